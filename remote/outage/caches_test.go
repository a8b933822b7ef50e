package outage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/faultproxy"
	"github.com/firncache/firn/remote/internal/servertest"
)

const (
	caches = 3
	keys   = 20
	pause  = 20 * time.Millisecond // between two reads of a key by one cache
	writes = 10                    // one turn in so many a fourth cache sets the key
	bound  = remote.DefaultStaleness
)

// fleet is the caches over a server, and what came of their reads. The value of a key is the time
// at which it was set, or at which its loader began.
type fleet struct {
	server  *servertest.Server
	proxies [caches]*faultproxy.Proxy
	caches  [caches]*firn.Cache
	writer  *firn.Cache // without a proxy; what it logs is not counted
	lines   lines

	loads, reads, errors atomic.Int64
	oldest               atomic.Int64 // age of an answer, in nanoseconds
}

// lines counts lines of a log.
type lines struct{ n atomic.Int64 }

func (l *lines) Write(b []byte) (int, error) {
	l.n.Add(int64(bytes.Count(b, []byte("\n"))))
	return len(b), nil
}

func newFleet(t *testing.T, degraded remote.Degraded) *fleet {
	t.Helper()
	f := &fleet{server: servertest.Start(t, servertest.Options{})}
	for i := range f.caches {
		var err error
		if f.proxies[i], err = faultproxy.New(f.server.Addr); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.proxies[i].Close)
		f.caches[i] = open(t, remote.Options{Addrs: []string{f.proxies[i].Addr()}, Degraded: degraded,
			Log: slog.New(slog.NewTextHandler(&f.lines, nil))})
	}
	f.writer = open(t, remote.Options{Addrs: []string{f.server.Addr}, Log: slog.New(slog.DiscardHandler)})
	return f
}

func open(t *testing.T, o remote.Options) *firn.Cache {
	t.Helper()
	o.Namespace = "outage"
	tier, err := remote.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := firn.Open(firn.Options{RAMBytes: 16 << 20, Shared: tier})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// load is the source: the time.
func (f *fleet) load(context.Context, []byte) ([]byte, error) {
	f.loads.Add(1)
	return stamp(), nil
}

func stamp() []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, 0, 64), uint64(time.Now().UnixNano()))[:64]
}

// run reads and writes until the context ends.
func (f *fleet) run(ctx context.Context) (wait func()) {
	var all sync.WaitGroup
	for i := range f.caches {
		for k := range keys {
			all.Go(func() { f.work(ctx, i, []byte{'k', byte(k)}) })
		}
	}
	return all.Wait
}

func (f *fleet) work(ctx context.Context, i int, key []byte) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if i == 0 && n%writes == 0 {
			_ = f.writer.Set(key, stamp())
		}
		v, err := f.caches[i].GetOrLoad(context.Background(), nil, key, f.load)
		f.reads.Add(1)
		switch {
		case err == nil:
			f.note(time.Now().UnixNano() - int64(binary.LittleEndian.Uint64(v)))
		case errors.Is(err, firn.ErrSharedUnavailable):
			f.errors.Add(1)
		}
	}
}

func (f *fleet) note(age int64) {
	for {
		old := f.oldest.Load()
		if age <= old || f.oldest.CompareAndSwap(old, age) {
			return
		}
	}
}

// reset begins to count, and counts returns what has come since.
func (f *fleet) reset() {
	for _, n := range []*atomic.Int64{&f.loads, &f.reads, &f.errors, &f.oldest, &f.lines.n} {
		n.Store(0)
	}
}
