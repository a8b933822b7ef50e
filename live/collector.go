package live

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
)

const (
	period      = time.Second     // from one frame to the next
	curvePeriod = 5 * time.Second // from one curve to the next
)

// collector takes the figures of all caches once for all viewers. It keeps neither the
// caches nor its page from being collected.
type collector struct {
	run    string
	caches []source
	last   atomic.Pointer[published]

	dropped atomic.Bool // nothing has the page any more

	mu      sync.Mutex // guards all below
	timer   *time.Timer
	manual  bool       // inside.Collect takes the frames
	ended   bool       // no cache will change any more
	before  []snapshot // of each cache, those of the last frame
	now     []snapshot // room for the next
	curves  []json.RawMessage
	curveAt time.Time
	runtime *runtimeReader
	frame   frame // the last, with curves
	ring    ring

	historyMu sync.Mutex // guards historyOf: held while it is made, before mu
	historyOf historyBody
}

// source is a cache and its name.
type source struct {
	name  string
	cache weak.Pointer[firn.Cache]
}

// published is the last frame as viewers get it. Each waits for the next by itself, so that one
// that is slow gets the latest when it is ready, and nobody waits for it.
type published struct {
	event []byte
	next  chan struct{} // closed when there is a newer one
}

func newCollector(opts Options) *collector {
	c := &collector{run: rand.Text(), runtime: newRuntimeReader(opts.Statsviz)}
	for _, named := range opts.Caches {
		c.caches = append(c.caches, source{named.Name, weak.Make(named.Cache)})
	}
	n := len(c.caches)
	c.before, c.now, c.curves = make([]snapshot, n), make([]snapshot, n), make([]json.RawMessage, n)
	c.ring.init(n)
	at := time.Now()
	for i := range c.caches {
		c.before[i].take(c.caches[i].cache.Value(), at)
	}
	c.collectLocked(at) // nobody else has it yet
	return c
}

// start has a frame taken each period until no further one is to be. It is a timer and no
// goroutine: between two frames nothing runs.
func (c *collector) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	begin := c.frame.Time
	c.timer = time.AfterFunc(period, func() { c.tick(begin) })
}

// tick takes a frame, and sets the timer to a whole number of periods from begin on.
func (c *collector) tick(begin time.Time) {
	if c.refresh(period / 2) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timer.Reset(period - time.Since(begin)%period)
	}
}

// refresh takes a frame if the last one is older than age. It reports whether there will be more.
func (c *collector) refresh(age time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped.Load() {
		return false
	}
	if now := time.Now(); !c.manual && now.Sub(c.frame.Time) > age {
		c.collectLocked(now)
	}
	return !c.ended
}

// takeOver takes a frame dated at, and no other any more unless it is told to.
func (c *collector) takeOver(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manual = true
	c.collectLocked(at)
}

// collectLocked takes a frame and tells the viewers of it.
func (c *collector) collectLocked(at time.Time) {
	if c.ended {
		return
	}
	f := frame{Seq: c.frame.Seq + 1, Run: c.run, Time: at, Host: c.runtime.read(), Caches: make([]cache, len(c.caches))}
	withCurves := c.curveAt.IsZero() || at.Sub(c.curveAt) >= curvePeriod
	if withCurves {
		c.curveAt = at
	}
	c.ended = true
	for i := range c.caches {
		c.collectCache(i, at, &f.Caches[i], withCurves)
		c.ended = c.ended && f.Caches[i].Closed
	}
	c.before, c.now = c.now, c.before
	c.ring.add(&f)
	c.publish(&f)
	for i := range f.Caches {
		f.Caches[i].Curve = c.curves[i]
	}
	c.frame = f
}

// collectCache fills what a frame says of one cache.
func (c *collector) collectCache(i int, at time.Time, out *cache, withCurve bool) {
	from, to := &c.before[i], &c.now[i]
	of := c.caches[i].cache.Value()
	if to.take(of, at); to.inside.Closed && from.stats.RAM.Bytes > 0 {
		to.stand(from)
	}
	if withCurve && of != nil && !to.inside.Closed {
		c.curves[i] = curveOf(of)
		out.Curve = c.curves[i]
	}
	out.fill(c.caches[i].name, from, to)
}

// take takes a snapshot of a cache, of a nil one as of a closed one.
func (s *snapshot) take(c *firn.Cache, at time.Time) {
	s.at = at
	if c == nil {
		s.stats, s.inside = firn.Stats{}, inside.Inside{Closed: true}
		return
	}
	s.stats = c.Stats()
	s.inside = inside.Of(c, s.inside.Segments)
}

// stand makes a snapshot of a closed cache that of the last moment before.
func (s *snapshot) stand(before *snapshot) {
	s.stats = before.stats
	s.inside = before.inside
	s.inside.Segments = bytes.Clone(before.inside.Segments)
	s.inside.Closed = true
}

// publish makes a frame the latest for viewers.
func (c *collector) publish(f *frame) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: frame\nid: %d\ndata: ", f.Seq)
	_ = json.NewEncoder(&b).Encode(f) // all of it has words in JSON: see appendNumber and curveOf
	b.WriteByte('\n')
	if old := c.last.Swap(&published{event: b.Bytes(), next: make(chan struct{})}); old != nil {
		close(old.next)
	}
}

// fill says what a cache did between two snapshots.
func (out *cache) fill(name string, from, to *snapshot) {
	out.Name, out.Closed = name, to.inside.Closed
	between := between(from, to)
	out.Now = make(figures, len(series))
	for i := range series {
		out.Now[i] = series[i].of(between)
	}
	out.Stats = appendStats(nil, &to.stats)
	out.Segments, out.SegmentsPerCell = cells(to.inside.Segments)
	p, h := &to.inside.Policy, &to.inside.Health
	out.Policy = policy{Settings: []setting{}, Current: p.Current, Filling: p.Filling}
	for _, s := range p.Settings {
		out.Policy.Settings = append(out.Policy.Settings, setting{s.Name, finite(s.Score)})
	}
	out.Health = health{
		SSD: string(h.SSD), SSDReason: h.SSDReason, Shared: string(h.Shared), SharedNote: h.SharedNote,
		Since: h.Since,
	}
}
