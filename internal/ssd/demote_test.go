package ssd

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 27: a record that is not taken, for whatever reason, leaves nothing older
// of its key behind.
func TestFault27NotTaken(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]func(*Config){
		"admission":  func(c *Config) { c.Admission = AdmitRead },
		"the budget": func(c *Config) { c.WriteBudget = 1 },
		"its length": nil,
		"full":       nil,
		"off":        nil,
		"closed":     nil,
	} {
		inBubble(t, name, func(t *testing.T) {
			w, mem, f := startedFaulty(t, 1, testConfig)
			key := w.key(1)
			h := w.hasher.Hash(key)
			w.put(t, key)
			w.close(t)
			c := testConfig(f, w)
			if cfg != nil {
				cfg(&c)
			}
			w.reopen(t, c)
			w.next()
			value := w.bytesOf(key, w.seq, 100)
			w.wrote(key, w.seq)
			switch name {
			case "its length":
				value = make([]byte, format.MinSegment)
			case "full":
				stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
				defer stuck.Remove()
				for i := 0; w.tier.Demote(w.hasher.Hash(w.key(2+i)), w.key(2+i), make([]byte, 30), 0, true, record.SameCopy); i++ {
				}
			case "off":
				w.tier.switchOff(errors.New("test"))
			case "closed":
				w.close(t)
			}
			if w.tier.Demote(h, key, value, 0, name == "the budget" || name == "full", record.SameCopy) {
				t.Fatal("taken")
			}
			wantErr(t, errOf(w.lookUp(key)), ErrNotFound)
			heir := w.killed(t, mem, testConfig)
			noError(t, heir.get(key))
			heir.close(t)
			if name == "full" {
				return // see TestFault16StuckWrites
			}
			noError(t, w.tier.Close(background))
		})
	}
}

// Row 29: deletes of keys that are not there write nothing; deletes of those that
// are, and updates of one key, leave the files as large as they are.
func TestFault29Storms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem, f := startedFaulty(t, 1, testConfig)
		w.most = 10
		before := f.Count(vfstest.OpWrite, format.LogName)
		w.deleteKeys(20_000)
		if after := f.Count(vfstest.OpWrite, format.LogName); after != before {
			t.Fatalf("%d writes for deletes of what is not there", after-before)
		}
		for range 20_000 {
			w.put(t, w.key(1))
		}
		w.delete(w.key(1))
		for range 3 {
			w.fill(t, 3000)
			w.deleteKeys(3000)
		}
		s := w.tier.Stats()
		if s.Records != 0 || s.Invalidated == 0 {
			t.Fatalf("%+v", s)
		}
		if n := fileBytes(t, mem); n > 2<<20 {
			t.Fatalf("the files take %d bytes", n)
		}
		h := w.killed(t, mem, testConfig)
		h.wantLen(t, 0)
		h.close(t)
		w.close(t)
	})
}

// Where records come that fill most of a segment, the log is behind as long as the
// open segment has no room for one, and no other can be opened: whoever asks waits,
// and loses none.
func TestBehindForLargeRecords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, testConfig)
		demote := func(key int, n int) bool {
			return w.tier.Demote(w.hasher.Hash(w.key(key)), w.key(key), make([]byte, n), 0, true, record.NoCopy)
		}
		const large = 60_000
		if !demote(0, large) {
			t.Fatal("no room")
		}
		synctest.Wait()
		held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		if !demote(1, 8000) { // the first segment is full, and being written
			t.Fatal("no room in the second segment")
		}
		synctest.Wait()
		go func() { held.Remove() }()
		if _, ok := w.tier.WaitForRoom(0); !ok {
			t.Error("not ready when the disk had gone on")
		}
		if !demote(2, large) {
			t.Errorf("%+v: a large record was refused after WaitForRoom", w.tier.Stats())
		}
		w.close(t)
	})
}

// Rows 25 and 26: a key is updated or deleted while its older version is read
// from the disk: the read does not return it, nor can it be promoted.
func TestFault25and26WriteDuringRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, write := range []string{"set", "delete", "set and demote"} {
			w, _, f := startedFaulty(t, 1, testConfig)
			key := w.key(1)
			w.put(t, key)
			w.restart(t, testConfig(f, w))
			h := w.hasher.Hash(key)
			f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Times: 1, Hook: func(vfstest.Op) {
				switch write {
				case "delete":
					w.delete(key)
				case "set":
					w.set(key, 0)
				default:
					w.put(t, key)
				}
			}})
			found, err := w.tier.Get(background, nil, key, h)
			if !errors.Is(err, ErrChanged) {
				t.Fatalf("%s: Get: %v, want ErrChanged", write, err)
			}
			if w.tier.IsCurrent(h, found.Token) {
				t.Fatalf("%s: can be promoted", write)
			}
			noError(t, w.get(key))
			w.close(t)
		}
	})
}

// Row 26: what was read has to be asked for again before it is promoted.
func TestFault26Token(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := started(t, 1, testConfig)
		key := w.key(1)
		w.put(t, key)
		h := w.hasher.Hash(key)
		found, err := w.tier.Get(background, nil, key, h)
		if err != nil || !w.tier.IsCurrent(h, found.Token) {
			t.Fatal(err, "not held")
		}
		w.put(t, key)
		if w.tier.IsCurrent(h, found.Token) {
			t.Fatal("an older version is held")
		}
		w.tier.Clear()
		w.put(t, key)
		if w.tier.IsCurrent(h, found.Token) {
			t.Fatal("a version from before Clear is held")
		}
		w.close(t)
	})
}

// A record with a later deadline than its copy here replaces that. If it is refused, the
// copy stays, and it expires when it would have: after a kill, too.
func TestDemoteOverOlderCopy(t *testing.T) {
	for _, refused := range []bool{false, true} {
		inBubble(t, fmt.Sprint(refused), func(t *testing.T) {
			w, mem := newWorld(t, 1), vfstest.NewMem()
			c := testConfig(mem, w)
			c.Admission = AdmitRead
			w.reopen(t, c)
			key, value := w.key(1), []byte("value")
			h, was, to := w.hasher.Hash(w.key(1)), w.tier.Now()+1000, w.tier.Now()+5000
			if !w.tier.Demote(h, key, value, was, true, record.NoCopy) {
				t.Fatal("not taken")
			}
			if !w.tier.Demote(h, key, value, to, !refused, record.OlderCopy) {
				t.Errorf("refused %v: it is here, and is said not to be", refused)
			}
			want := to
			if refused {
				want = was
			}
			if f, err := w.lookUp(key); f.Deadline != want || string(f.Value) != "value" || err != nil {
				t.Errorf("refused %v: %q until %d, %v, want until %d", refused, f.Value, f.Deadline, err, want)
			}
			if n := w.tier.Len(); n != 1 {
				t.Errorf("%d entries", n)
			}
			w.roomy()
			heir := w.killed(t, mem, testConfig)
			if f, err := heir.lookUp(key); err == nil && f.Deadline != want {
				t.Errorf("refused %v: after a kill until %d, want %d", refused, f.Deadline, want)
			}
			heir.close(t)
			w.close(t)
		})
	}
}
