package coherence

import (
	"encoding/binary"
	"hash/maphash"
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
	seed    maphash.Seed
	stripes *[stripes]stripe
	hits    *Hits
	spaces  []frontedSpace
}

// frontedSpace is a namespace with fronts. Each drop deletes a key, given as
// bytes without the number of the generation, from one of them.
type frontedSpace struct {
	current *Current
	drops   []func(key []byte)
}

// Attach makes a front known, with the namespace of its keys, and returns where
// its hits are counted. It stays known as long as the table is.
func (t *Table) Attach(space *Current, drop func(key []byte)) *Hits {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &attached{seed: maphash.MakeSeed(), stripes: new([stripes]stripe), hits: new(Hits)}
	if old := t.attached.Load(); old != nil {
		*next = *old
		next.spaces = nil
		for _, fs := range old.spaces {
			if fs.current == space {
				drops := append([]func([]byte){drop}, fs.drops...)
				fs, drop = frontedSpace{space, drops}, nil
			}
			next.spaces = append(next.spaces, fs)
		}
	}
	if drop != nil {
		next.spaces = append(next.spaces, frontedSpace{space, []func([]byte){drop}})
	}
	t.attached.Store(next)
	return next.hits
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
		for _, drop := range fs.drops {
			drop(key[GenerationLen:])
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
func (t *Table) Hits() uint64 {
	if a := t.attached.Load(); a != nil {
		return a.hits.sum()
	}
	return 0
}
