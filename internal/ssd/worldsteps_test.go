package ssd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/firncache/firn/internal/record"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"testing"
)

func (w *world) key(i int) []byte { return fmt.Appendf(nil, "key-%06d", i) }

// bytesOf makes a value that tells what it is: the key's checksum, the sequence
// number, and filling that follows from them.
func (w *world) bytesOf(key []byte, seq uint64, n int) []byte {
	b := make([]byte, 16, 24+n)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(key))
	binary.LittleEndian.PutUint64(b[4:], seq)
	for r := rand.NewPCG(seq, uint64(len(key))); len(b) < 16+n; {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	b = b[:16+n]
	binary.LittleEndian.PutUint32(b[12:], crc32.ChecksumIEEE(b[16:]))
	return b
}

func seqOf(key, b []byte) (uint64, error) {
	if len(b) < 16 || binary.LittleEndian.Uint32(b[12:]) != crc32.ChecksumIEEE(b[16:]) {
		return 0, errors.New("torn value")
	}
	if binary.LittleEndian.Uint32(b) != crc32.ChecksumIEEE(key) {
		return 0, errors.New("another key's value")
	}
	return binary.LittleEndian.Uint64(b[4:]), nil
}

// next is the number of the next write.
func (w *world) next() {
	w.mu.Lock()
	w.seq += 2
	w.mu.Unlock()
}

// roomy waits until the log has room. Memory for the index comes when the tier's
// goroutines have had their turn.
func (w *world) roomy() {
	w.tier.AwaitRoom()
	runtime.Gosched()
}

// ready waits for the tier's being ready, as a write does.
func (w *world) ready() { _, _ = w.tier.WaitForRoom(0) }

// set writes a key.
func (w *world) set(key []byte, deadline int64) {
	w.ready()
	w.next()
	w.ram[string(key)] = value{w.bytesOf(key, w.seq, w.rng.IntN(w.most)), deadline}
	w.wrote(key, w.seq)
}

// setBytes writes a key with a value of so many bytes.
func (w *world) setBytes(key []byte, n int) {
	w.next()
	w.ram[string(key)] = value{w.bytesOf(key, w.seq, n), 0}
	w.wrote(key, w.seq)
}

// put writes a key and lets it leave RAM, when the tier has room for it.
func (w *world) put(t testing.TB, key []byte) {
	t.Helper()
	w.set(key, 0)
	v := w.ram[string(key)]
	for h := w.hasher.Hash(key); !w.tier.Demote(h, key, v.bytes, v.deadline, true, record.SameCopy); w.roomy() {
		if s := w.tier.Stats(); !s.Online {
			t.Fatalf("the tier is off: %+v", s)
		}
	}
	delete(w.ram, string(key))
	w.took(key)
}

// fill puts so many keys.
func (w *world) fill(t testing.TB, keys int) {
	t.Helper()
	for i := range keys {
		w.put(t, w.key(i))
	}
}

// took notes that the tier has the last version of a key.
func (w *world) took(key []byte) {
	w.mu.Lock()
	w.there[string(key)] = w.acked[string(key)]
	w.mu.Unlock()
}

func (w *world) setKeys(keys int) {
	for i := range keys {
		w.set(w.key(i), 0)
	}
}

func (w *world) deleteKeys(keys int) {
	for i := range keys {
		w.delete(w.key(i))
	}
}

func (w *world) delete(key []byte) {
	w.next()
	delete(w.ram, string(key))
	w.wrote(key, w.seq+1)
}

// wrote tells the tier of a write, which is acknowledged by that.
func (w *world) wrote(key []byte, seq uint64) {
	w.tier.Invalidate(w.hasher.Hash(key))
	w.mu.Lock()
	w.acked[string(key)] = seq
	delete(w.there, string(key))
	w.mu.Unlock()
}

// demote lets a key leave RAM.
func (w *world) demote(key []byte) bool {
	v, ok := w.ram[string(key)]
	if !ok {
		return false
	}
	ok = w.tier.Demote(w.hasher.Hash(key), key, v.bytes, v.deadline, true, record.SameCopy)
	delete(w.ram, string(key))
	if ok {
		w.took(key)
	}
	return ok
}

// offer offers a record that was read, and reports whether it was let in.
func (w *world) offer(i int, size int) bool {
	key := w.key(i)
	h := w.hasher.Hash(key)
	for {
		limited := w.tier.Stats().Limited
		if w.tier.Demote(h, key, make([]byte, size), 0, true, record.SameCopy) {
			return true
		}
		if w.tier.Stats().Limited > limited {
			return false
		}
		w.roomy()
	}
}

func (w *world) mustDemote(t testing.TB, key []byte) {
	t.Helper()
	if !w.demote(key) {
		t.Fatalf("%s is not taken: %+v", key, w.tier.Stats())
	}
}

// get reads a key from the tier if RAM has it not, and judges what it finds.
func (w *world) get(key []byte) error {
	if _, ok := w.ram[string(key)]; ok {
		return nil
	}
	h := w.hasher.Hash(key)
	f, err := w.tier.Get(background, nil, key, h)
	if err != nil {
		return nil // a miss
	}
	seq, err := seqOf(key, f.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if want := w.acked[string(key)]; seq < want {
		return fmt.Errorf("%s: stale: version %d, and %d was acknowledged", key, seq, want)
	}
	if seq > w.seq {
		return fmt.Errorf("%s: version %d, and the last was %d", key, seq, w.seq)
	}
	if f.Deadline != 0 && f.Deadline <= w.now.Load() {
		return fmt.Errorf("%s: expired at %d, and it is %d", key, f.Deadline, w.now.Load())
	}
	w.hits++
	if w.rng.IntN(2) == 0 && w.tier.IsCurrent(h, f.Token) {
		w.ram[string(key)] = value{f.Value, f.Deadline}
	}
	return nil
}

// lookUp is what the tier answers for a key.
func (w *world) lookUp(key []byte) (Found, error) {
	return w.tier.Get(background, nil, key, w.hasher.Hash(key))
}

func (w *world) getKey(i int) error {
	return errOf(w.lookUp(w.key(i)))
}

// spotOf is where the index says that a key's record is.
func (w *world) spotOf(t testing.TB, key []byte) recordRef {
	t.Helper()
	ref, ok := w.tier.locate(w.hasher.Hash(key), false)
	if !ok {
		t.Fatalf("%s is not there", key)
	}
	return ref
}

// placeOf is where in the file of the log a record is.
func (w *world) placeOf(ref *recordRef) int64 {
	return int64(ref.slot)<<w.tier.log.SegmentShift + int64(ref.off)
}

// many looks up the keys [from, to) in one batch, and tells how each ended.
func (w *world) many(ctx context.Context, from, to int, ended func(error)) {
	var m Many
	for i := from; i < to; i++ {
		m.Queries = append(m.Queries, Query{Key: w.key(i), Hash: w.hasher.Hash(w.key(i))})
	}
	w.tier.GetMany(ctx, &m, func(_ int, _ Found, err error) { ended(err) })
}

// step does something at random.
func (w *world) step(keys int) error {
	key := w.key(w.rng.IntN(keys))
	switch n := w.rng.IntN(20); {
	case n < 7:
		deadline := int64(0)
		if w.rng.IntN(4) == 0 {
			deadline = w.now.Load() + 1 + w.rng.Int64N(1000)
		}
		w.set(key, deadline)
	case n < 8:
		w.delete(key)
	case n < 15:
		for k := range w.ram {
			w.demote([]byte(k))
			break
		}
	case n < 16:
		w.now.Add(w.rng.Int64N(20))
	default:
		return w.get(key)
	}
	return nil
}

// steps takes so many random steps.
func (w *world) steps(t testing.TB, n, keys int) {
	t.Helper()
	for i := range n {
		if err := w.step(keys); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if i%16 == 0 {
			w.bump(i / 16)
		}
	}
}
