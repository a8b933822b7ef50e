package whatif

// windows is how many stretches of time a Simulation counts. A curve is about the latest of
// them, the same for all of its points.
const windows = 8

// ring are the latest windows. The one that is counted now is number, and its place in whatever has
// something for each of them is at.
type ring struct {
	number int // from 0
	first  int // the oldest one that is about the present cache
	real   [windows]realTally
}

// realTally is what the cache itself did in a window.
type realTally struct {
	missCount
	millis float64 // that have passed
}

// missCount is how many reads the cache itself had, and how many missed.
type missCount struct{ hits, misses float64 }

func (m missCount) reads() float64 { return m.hits + m.misses }

// at is the place of the window that is counted now.
func (r *ring) at() int { return r.number % windows }

// oldest is the first window that is kept.
func (r *ring) oldest() int { return max(r.first, r.number-windows+1) }

// next begins a window.
func (r *ring) next() {
	r.number++
	r.real[r.at()] = realTally{}
}

// count adds what the cache itself answered in some time.
func (r *ring) count(real missCount, millis float64) {
	now := &r.real[r.at()]
	now.hits += real.hits
	now.misses += real.misses
	now.millis += millis
}

// since is what the cache itself did from the start of a window on.
func (r *ring) since(first int) (all realTally) {
	for n := first; n <= r.number; n++ {
		one := &r.real[n%windows]
		all.hits += one.hits
		all.misses += one.misses
		all.millis += one.millis
	}
	return all
}
