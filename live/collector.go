package live

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"
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
	above  []above // of each cache
	last   atomic.Pointer[published]

	dropped atomic.Bool // nothing has the page any more

	mu      sync.Mutex // guards all below
	timer   *time.Timer
	manual  bool      // inside.Collect takes the frames
	ended   bool      // no cache will change any more
	recent  []recent  // of each cache
	hot     []hotKeys // of each cache
	curveAt time.Time
	runtime *runtimeReader
	frame   frame // the last, with curves
	ring    ring

	historyMu sync.Mutex    // guards historyOf: held while one is made, before mu
	historyOf []historyBody // by the cache that is shown
}

// published is the last frame as viewers get it. Each waits for the next by itself, so that one
// that is slow gets the latest when it is ready, and nobody waits for it.
type published struct {
	events []func() []byte // by the cache that is shown: made for the first who looks at it
	next   chan struct{}   // closed when there is a newer one
}

func newCollector(opts Options) *collector {
	c := &collector{run: rand.Text(), runtime: newRuntimeReader(opts.Statsviz, opts.HotKeys != nil)}
	for _, named := range opts.Caches {
		c.caches = append(c.caches, source{named.Name, weak.Make(named.Cache)})
		c.above = append(c.above, named.Counters)
	}
	n := len(c.caches)
	c.recent, c.historyOf, c.hot = make([]recent, n), make([]historyBody, max(n, 1)), make([]hotKeys, max(n, 1))
	c.ring.init(n)
	at := time.Now()
	for i := range c.recent {
		c.recent[i].next().take(c.caches[i].cache.Value(), at)
		c.recent[i].advance()
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
	f := frame{head{c.frame.Seq + 1, c.run, at, c.runtime.read()}, make([]cache, len(c.caches))}
	withCurves := at.Sub(c.curveAt).Abs() >= curvePeriod // the clock may be set back
	if withCurves {
		c.curveAt = at
	}
	c.ended = true
	for i := range c.caches {
		c.recent[i].collect(c.caches[i], at, &f.Caches[i], withCurves)
		c.hot[i].take(c.caches[i].cache.Value(), at)
		f.Caches[i].Above = c.above[i].json()
		c.ended = c.ended && f.Caches[i].Closed
	}
	c.ring.add(&f)
	c.publish(f)
	f.Caches = slices.Clone(f.Caches)
	for i := range f.Caches {
		f.Caches[i].Curve = c.recent[i].curve
	}
	c.frame = f
}

// publish makes a frame, which does not change any more, the latest for viewers.
func (c *collector) publish(f frame) {
	p := &published{next: make(chan struct{})}
	for i := range max(len(f.Caches), 1) {
		p.events = append(p.events, sync.OnceValue(func() []byte {
			var b bytes.Buffer
			fmt.Fprintf(&b, "event: frame\nid: %d\ndata: ", f.Seq)
			_ = json.NewEncoder(&b).Encode(f.eventOf(i)) // all of it has words in JSON: see appendNumber and takeCurve
			b.WriteByte('\n')
			return b.Bytes()
		}))
	}
	if old := c.last.Swap(p); old != nil {
		close(old.next)
	}
}

// shown is the cache of a name, the first if there is none of it.
func (c *collector) shown(name string) int {
	return max(0, slices.IndexFunc(c.caches, func(s source) bool { return s.name == name }))
}
