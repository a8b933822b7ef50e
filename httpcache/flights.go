package httpcache

import (
	"sync"
	"time"
)

const (
	// uncoalescedFor is how long requests of a key do not wait for each other after a
	// response that was for one client alone.
	uncoalescedFor = time.Minute

	// maxUncoalesced bounds the table of such keys.
	maxUncoalesced = 4096

	// joinFor is how long an origin may send nothing, and requests still wait for its answer to
	// another one: the next asks again, as without a cache.
	joinFor = 10 * time.Second
)

// flights are the requests of origins under way.
type flights struct {
	mu          sync.Mutex
	joinable    map[string]*flight          // by key
	all         map[string]map[*flight]bool // by the primary key
	uncoalesced map[string]time.Time        // until when
	refreshed   map[string]time.Time        // in the background, since when
}

func newFlights() *flights {
	return &flights{
		joinable: map[string]*flight{}, all: map[string]map[*flight]bool{},
		uncoalesced: map[string]time.Time{}, refreshed: map[string]time.Time{},
	}
}

// join returns the flight of a key that is under way, or one that it makes.
func (t *flights) join(x *exchange) (f *flight, joined bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	coalesces := x.coalesces() && !time.Now().Before(t.uncoalesced[x.key])
	if f = t.joinable[x.key]; coalesces && f != nil && f.join() {
		return f, true
	}
	f = x.c.newFlight(x, coalesces)
	if coalesces {
		t.joinable[x.key] = f
	}
	if t.all[x.primary] == nil {
		t.all[x.primary] = map[*flight]bool{}
	}
	t.all[x.primary][f] = true
	return f, false
}

// remove forgets a flight that is over.
func (t *flights) remove(f *flight) {
	t.unjoin(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	if delete(t.all[f.x.primary], f); len(t.all[f.x.primary]) == 0 {
		delete(t.all, f.x.primary)
	}
}

// unjoin has nobody else join a flight.
func (t *flights) unjoin(f *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.joinable[f.x.key] == f {
		delete(t.joinable, f.x.key)
	}
}

// beginRefresh notes that a key is refreshed from now on, unless it is already, or being fetched for others too.
// What takes too long is refreshed again.
func (t *flights) beginRefresh(key string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.joinable[key]; f != nil && !f.isIdle(joinFor) {
		return false
	}
	if since, is := t.refreshed[key]; is && now.Sub(since) < joinFor {
		return false
	}
	t.refreshed[key] = now
	return true
}

// endRefresh ends what beginRefresh noted then.
func (t *flights) endRefresh(key string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refreshed[key].Equal(since) {
		delete(t.refreshed, key)
	}
}

// separate has requests of a key not wait for each other, for a while.
func (t *flights) separate(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if len(t.uncoalesced) >= maxUncoalesced {
		for k, until := range t.uncoalesced {
			if !now.Before(until) {
				delete(t.uncoalesced, k)
			}
		}
	}
	if len(t.uncoalesced) < maxUncoalesced {
		t.uncoalesced[key] = now.Add(uncoalescedFor)
	}
}

// invalidate voids what is under way: of a primary key, or of all if that is "".
func (t *flights) invalidate(primary string) {
	t.each(primary, (*flight).invalidate)
}

// invalidateTag voids what is under way and has, or will have, the tag. While it is not known which tags a
// response has, nobody joins it later.
func (t *flights) invalidateTag(tag string) {
	t.each("", func(f *flight) {
		if f.invalidateTag(tag); f.is(pending) && t.joinable[f.x.key] == f {
			delete(t.joinable, f.x.key)
		}
	})
}

func (t *flights) each(primary string, do func(*flight)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if primary != "" {
		for f := range t.all[primary] {
			do(f)
		}
		return
	}
	for _, of := range t.all {
		for f := range of {
			do(f)
		}
	}
}
