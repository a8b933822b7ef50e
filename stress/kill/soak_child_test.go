package kill

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/stress/internal/resident"
)

// soakLife is the cache in a process that will be killed.
type soakLife struct {
	c        *firn.Cache
	start    time.Time
	acked    [soakKeys]atomic.Pointer[soakWrite] // the last write of each key that was acknowledged
	seq      atomic.Uint64
	hits     atomic.Uint64
	clearing sync.RWMutex // held for writing by Clear, which is a write of every key
	stop     atomic.Bool
	notes    io.Writer
	failed   chan error
	before   int64 // resident bytes without the cache
	peak     int64 // and the most above them
}

func (l *soakLife) fail(err error) {
	select {
	case l.failed <- err:
	default:
	}
}

// now is the time as the cache takes it: of the system when it began, and
// monotonic since.
func (l *soakLife) now() int64 { return l.start.Add(time.Since(l.start)).UnixMilli() }

func (l *soakLife) tell(n soakNote) {
	var b [soakNoteLen]byte
	n.put(b[:])
	if _, err := l.notes.Write(b[:]); err != nil {
		l.fail(err)
	}
}

// check judges a value of a key of which write w was acknowledged before the read
// began.
func (l *soakLife) check(i int, w *soakWrite, began int64, v []byte) {
	switch seq, err := w.judge(soakKey(i), v, began); {
	case err != nil:
		l.fail(err)
	case seq > l.seq.Load():
		l.fail(fmt.Errorf("key %d: %w: %d", i, cachetest.ErrUnknown, seq))
	default:
		l.hits.Add(1)
	}
}

// soakChild uses the cache until its standard input ends, then closes it. What
// is acknowledged it tells on its file 3. Its input begins with the number of its
// first write, and the last acknowledged one of each key.
func soakChild(life string) error {
	var s soakSetting
	if err := json.Unmarshal([]byte(life), &s); err != nil {
		return err
	}
	debug.SetGCPercent(10) // what the test itself makes shall not count for much
	l := &soakLife{notes: os.NewFile(3, "notes"), failed: make(chan error, 1), start: time.Now()}
	if err := l.inherit(); err != nil {
		return err
	}
	closing := s.arm()
	m, err := resident.Read()
	if err != nil {
		return err
	}
	l.before = m.Now
	if l.c, err = firn.Open(s.options()); err != nil {
		return err
	}
	l.getAll()
	l.tell(soakNote{soakReady, soakWrite{Seq: l.hits.Load()}})
	var group sync.WaitGroup
	for k := range soakWorkers {
		group.Go(func() { l.work(k, rand.New(rand.NewPCG(s.Seed, uint64(k))), s.Clears) })
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-l.failed:
			return err
		case <-ended:
			l.stop.Store(true)
			group.Wait()
			closing()
			err := l.end(s.Seed)
			l.tellPeak()
			return err
		case <-tick.C:
			l.tell(soakNote{soakHits, soakWrite{Seq: l.hits.Load()}})
			if err := l.budgets(&s); err != nil {
				return err
			}
		}
	}
}

// end closes the cache, in every other life in less time than that may take. On a disk that
// is full the index cannot be saved.
func (l *soakLife) end(seed uint64) error {
	if seed%2 == 0 {
		if err := l.c.Close(); !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seed/2%16)*time.Millisecond)
	defer cancel()
	var left *firn.ShutdownError
	err := l.c.Shutdown(ctx)
	if errors.As(err, &left) && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.ENOSPC)) {
		return nil
	}
	return err
}

// getAll reads every key before any is written.
func (l *soakLife) getAll() {
	for i := range l.acked {
		began := l.now()
		if v, ok := l.c.Get(nil, soakKey(i)); ok {
			l.check(i, l.acked[i].Load(), began, v)
		}
	}
}

// inherit reads what the parent knows.
func (l *soakLife) inherit() error {
	in := make([]byte, 8+16*soakKeys)
	if _, err := io.ReadFull(os.Stdin, in); err != nil {
		return err
	}
	l.seq.Store(binary.LittleEndian.Uint64(in))
	for i := range l.acked {
		b := in[8+16*i:]
		l.acked[i].Store(&soakWrite{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))})
	}
	return nil
}

// soakSlack is what may be resident beside the cache's budget: the process's own
// heap and stacks, and what docs/internals/TESTING.md allows for.
const soakSlack = 8 << 20

// budgets checks that the cache keeps to its own.
func (l *soakLife) budgets(s *soakSetting) error {
	if st := l.c.Stats(); st.RAM.UsedBytes > st.RAM.Bytes || st.RAM.Bytes != s.RAMBytes || st.SSD.Bytes > soakMostSSD {
		return fmt.Errorf("beyond the budget: %+v", st)
	}
	m, err := resident.Read()
	if err != nil {
		return err
	}
	l.peak = max(l.peak, m.Now-l.before)
	if most := s.RAMBytes + s.RAMBytes/50 + soakSlack; l.peak > most && !invariants.Race { // whose shadow is resident, too
		return fmt.Errorf("%d bytes are resident above those before Open: want no more than %d", l.peak, most)
	}
	l.tellPeak()
	return nil
}

func (l *soakLife) tellPeak() { l.tell(soakNote{soakPeak, soakWrite{Seq: uint64(l.peak)}}) }

// work uses the cache at random. It alone writes keys number k, k+soakWorkers and
// so on.
func (l *soakLife) work(k int, rng *rand.Rand, clears bool) {
	var buf []byte
	var batch firn.Batch
	for n := 0; !l.stop.Load(); n++ {
		i := rng.IntN(soakKeys/soakWorkers)*soakWorkers + k
		switch p := rng.IntN(100); {
		case p < 40:
			buf = l.set(rng, i, p < 8, buf)
		case p < 42:
			l.setMany(rng, k)
		case p < 46:
			l.clearing.RLock()
			seq := l.seq.Add(1)
			l.wrote(i, soakWrite{Seq: seq}, l.c.Delete(soakKey(i)))
			l.clearing.RUnlock()
		case p < 56:
			l.getMany(&batch, rng)
		case p < 57 && k == 0 && n%500 == 0 && clears:
			l.clear()
		default:
			other := rng.IntN(soakKeys)
			w, began := l.acked[other].Load(), l.now()
			var ok bool
			if buf, ok = l.c.Get(buf[:0], soakKey(other)); ok {
				l.check(other, w, began, buf)
			}
		}
	}
}

// set writes a key. It returns buf, to use again.
func (l *soakLife) set(rng *rand.Rand, i int, expires bool, buf []byte) []byte {
	l.clearing.RLock()
	defer l.clearing.RUnlock()
	w := soakWrite{Seq: l.seq.Add(1)}
	buf = appendSoakValue(buf[:0], soakKey(i), w.Seq, cachetest.MinValue+rng.IntN(2500))
	ttl := firn.Forever
	if expires {
		ttl = time.Duration(1+rng.IntN(500)) * time.Millisecond
	}
	err := l.c.SetWithTTL(soakKey(i), buf, ttl)
	if expires {
		const rounding = 10
		w.Expires = l.now() + ttl.Milliseconds() + rounding
	}
	l.wrote(i, w, err)
	return buf
}

// setMany writes some of the keys of worker k in one call.
func (l *soakLife) setMany(rng *rand.Rand, k int) {
	l.clearing.RLock()
	defer l.clearing.RUnlock()
	first := rng.IntN(soakKeys/soakWorkers-10)*soakWorkers + k
	var keys, values [][]byte
	var writes []soakWrite
	for i := range 10 {
		w := soakWrite{Seq: l.seq.Add(1)}
		key := soakKey(first + i*soakWorkers)
		keys, writes = append(keys, key), append(writes, w)
		values = append(values, appendSoakValue(nil, key, w.Seq, cachetest.MinValue+rng.IntN(500)))
	}
	err := l.c.SetMulti(context.Background(), keys, values)
	for i, w := range writes {
		l.wrote(first+i*soakWorkers, w, err)
	}
}

func (l *soakLife) wrote(i int, w soakWrite, err error) {
	if err != nil {
		l.fail(err)
		return
	}
	l.acked[i].Store(&w)
	l.tell(soakNote{uint32(i), w})
}

func (l *soakLife) clear() {
	l.clearing.Lock()
	defer l.clearing.Unlock()
	if err := l.c.Clear(context.Background()); err != nil {
		l.fail(err)
		return
	}
	w := soakWrite{Seq: l.seq.Add(1)}
	for i := range l.acked {
		l.acked[i].Store(&w)
	}
	l.tell(soakNote{soakCleared, w})
}

func (l *soakLife) getMany(batch *firn.Batch, rng *rand.Rand) {
	var keys [20][]byte
	var acked [20]*soakWrite
	var ids [20]int
	for i := range keys {
		ids[i] = rng.IntN(soakKeys)
		keys[i], acked[i] = soakKey(ids[i]), l.acked[ids[i]].Load()
	}
	began := l.now()
	l.c.GetMulti(context.Background(), batch, keys[:])
	for i := range keys {
		if v, ok := batch.Value(i); ok {
			l.check(ids[i], acked[i], began, v)
		}
	}
}
