package coherence

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Table knows the fronts above a cache. The zero Table is ready for use, and
// knows none.
type Table struct {
	attached atomic.Pointer[attached] // nil without any
	mu       sync.Mutex               // held while it is replaced
}

// attached is the state once a front was attached. It is replaced as a
// whole when another is, but for the stripes and counters.
type attached struct {
	seed     maphash.Seed
	stripes  *[stripes]stripe
	spaces   []frontedSpace
	goneHits uint64 // of spaces that have lost their last front
}

// frontedSpace is a namespace with fronts, at least one.
type frontedSpace struct {
	current *Current
	hits    *Hits
	fronts  []*attachedFront
}

// attachedFront is a front as the table knows it: drop deletes a key, given as bytes
// without the number of the generation.
type attachedFront struct{ drop func(key []byte) }

// Attach makes a front known, with the namespace of its keys. Its hits are counted in
// hits, with those of the namespace's other fronts. It stays known until detach is
// called, once, or as long as the table is. From then on it must not be read: detach
// makes what it holds, and what the namespace's other fronts do, worthless, and returns
// the hits of the namespace if this was its last front.
func (t *Table) Attach(space *Current, drop func(key []byte)) (hits *Hits, detach func() (hits uint64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &attached{seed: maphash.MakeSeed(), stripes: new([stripes]stripe)}
	if old := t.attached.Load(); old != nil {
		*next = *old
		next.spaces = slices.Clone(old.spaces)
	}
	f := &attachedFront{drop}
	fs := next.space(space)
	if fs == nil {
		next.spaces = append(next.spaces, frontedSpace{current: space, hits: new(Hits)})
		fs = &next.spaces[len(next.spaces)-1]
	}
	fs.fronts = append(slices.Clone(fs.fronts), f)
	t.attached.Store(next)
	return fs.hits, func() uint64 { return t.detach(space, f) }
}

// space is a namespace with fronts, nil if it has none.
func (a *attached) space(current *Current) *frontedSpace {
	for i := range a.spaces {
		if a.spaces[i].current == current {
			return &a.spaces[i]
		}
	}
	return nil
}

// detach forgets a front, and with the last one its namespace.
func (t *Table) detach(space *Current, f *attachedFront) (hits uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := *t.attached.Load()
	next.spaces = slices.Clone(next.spaces)
	fs := next.space(space)
	fs.fronts = slices.DeleteFunc(slices.Clone(fs.fronts), func(g *attachedFront) bool { return g == f })
	if len(fs.fronts) == 0 {
		hits = fs.hits.sum()
		next.goneHits += hits
		next.spaces = slices.DeleteFunc(next.spaces, func(s frontedSpace) bool { return s.current == space })
	}
	t.attached.Store(&next)
	space.bump() // writes do not empty it any more
	return hits
}

func (a *attached) stripe(key []byte) *stripe {
	return &a.stripes[maphash.Bytes(a.seed, key)%stripes]
}

// BeforeWrite is called before the bytes of a key change, and AfterWrite, with
// the token that BeforeWrite returned, after it and before the write is
// acknowledged. The token is nil without a front. A write that panics in between,
// in the user's OnEvict, leaves a stripe, or those of its batch, that is not filled
// any more, which is slow and right.
func (t *Table) BeforeWrite(key []byte) (token any) {
	if a := t.attached.Load(); a != nil {
		return t.beginWrite(a.stripe(key), key)
	}
	return nil
}

// AfterWrite is called after the bytes of a key have changed.
func (t *Table) AfterWrite(key []byte, token any) {
	s, ok := token.(*stripe)
	if !ok {
		a := t.attached.Load()
		if a == nil {
			return
		}
		s = t.beginWrite(a.stripe(key), key) // a front was attached since BeforeWrite
	}
	s.end()
}

// beginWrite counts a write in, and deletes its key from the fronts.
func (t *Table) beginWrite(s *stripe, key []byte) *stripe {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	if len(key) < GenerationLen {
		return s
	}
	number := binary.LittleEndian.Uint64(key)
	// Under the lock, lest a front be left out that was attached, and filled, since
	// the caller looked.
	for _, fs := range t.attached.Load().spaces {
		if fs.current.Load().Number != number {
			continue
		}
		for _, f := range fs.fronts {
			f.drop(key[GenerationLen:])
		}
	}
	return s
}

// Clear calls do, which empties the bytes, with every front emptied before and
// not filled meanwhile. With forever, none is filled afterwards either.
func (t *Table) Clear(forever bool, do func()) {
	a := t.attached.Load()
	if a == nil {
		do()
		t.invalidateAll() // fronts that were attached meanwhile
		return
	}
	for i := range a.stripes {
		s := &a.stripes[i]
		s.mu.Lock()
		s.begin()
		s.mu.Unlock()
	}
	t.invalidateAll()
	do()
	if !forever {
		for i := range a.stripes {
			a.stripes[i].end()
		}
	}
}

// invalidateAll makes the entries of all fronts worthless.
func (t *Table) invalidateAll() {
	if a := t.attached.Load(); a != nil {
		for _, fs := range a.spaces {
			fs.current.bump()
		}
	}
}

// Hits is how many values fronts had.
func (t *Table) Hits() (n uint64) {
	if a := t.attached.Load(); a != nil {
		n = a.goneHits
		for i := range a.spaces {
			n += a.spaces[i].hits.sum()
		}
	}
	return n
}

// HitsOf is how many values the fronts of a namespace had, 0 if it has none.
func (t *Table) HitsOf(space *Current) uint64 {
	if a := t.attached.Load(); a != nil {
		if fs := a.space(space); fs != nil {
			return fs.hits.sum()
		}
	}
	return 0
}
