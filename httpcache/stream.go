package httpcache

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// inMemory is how many chunks of a body that is being received are in memory. Readers that are
// further behind read from the cache.
const inMemory = 4

// errAbandoned ends a body that is not stored, and that nobody reads any more.
var errAbandoned = errors.New("httpcache: all clients have left")

// stream is a body on its way from the origin, into the cache and to clients at the same time. It
// has one writer. As long as its chunks are stored the writer waits for no reader;
// from then on for the slowest one.
type stream struct {
	bodies   *bodies
	id       bodyID
	ttl      time.Duration // of the chunks
	limit    int64         // the longest body that is stored
	declared int64         // its length, as its header has it, or -1
	users    func() int    // how many clients read it, or are about to

	mu      sync.Mutex
	wake    chan struct{} // is closed when anything changes
	mem     [][]byte      // chunks; the last is being filled
	first   int64         // the number of the first one there
	size    int64
	grown   time.Time // when it last did
	stored  int64     // chunks in the cache
	keeps   bool      // what came is in the cache, or in memory
	ended   bool
	err     error // of the origin, when it has ended
	readers map[*streamBody]bool
}

func newStream(b *bodies, ttl time.Duration, limit, declared int64) *stream {
	return &stream{
		bodies: b, id: newID(), ttl: ttl, limit: limit, declared: declared,
		wake: make(chan struct{}), keeps: true, grown: time.Now(), readers: map[*streamBody]bool{},
	}
}

// changed wakes all who wait. The lock is held.
func (s *stream) changed() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// write takes the next bytes. It waits only if they are not stored, for readers, until ctx ends.
func (s *stream) write(ctx context.Context, p []byte) error {
	for len(p) > 0 {
		n, full := s.fill(p)
		if p = p[n:]; !full {
			continue
		}
		s.keepLast()
		if err := s.makeRoom(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fill adds bytes to the last chunk, and reports whether that is full.
func (s *stream) fill(p []byte) (n int, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chunk := s.bodies.chunk
	if s.size == (s.first+int64(len(s.mem)))*chunk {
		s.mem = append(s.mem, make([]byte, 0, s.firstRoom()))
	}
	last := &s.mem[len(s.mem)-1]
	n = int(min(int64(len(p)), chunk-int64(len(*last))))
	*last = append(*last, p[:n]...) // what readers have of it stays as it is
	s.size, s.grown = s.size+int64(n), time.Now()
	s.changed()
	return n, int64(len(*last)) == chunk
}

// firstRoom is the room that a chunk has in the beginning.
func (s *stream) firstRoom() int64 {
	if s.declared >= 0 {
		return min(max(s.declared-s.size, 1), s.bodies.chunk)
	}
	if s.size > 0 {
		return s.bodies.chunk
	}
	return min(4<<10, s.bodies.chunk)
}

// keepLast stores the last chunk. If that cannot be, or the body is too long, no more is stored.
func (s *stream) keepLast() {
	s.mu.Lock()
	keeps, n := s.keeps && s.size <= s.limit, s.first+int64(len(s.mem))-1
	var data []byte
	if len(s.mem) > 0 {
		data = s.mem[len(s.mem)-1]
	}
	s.mu.Unlock()
	keeps = keeps && s.bodies.set(s.id, n, data, s.ttl) == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if keeps {
		s.stored = n + 1
		s.trim(s.first + int64(len(s.mem)) - inMemory)
	}
	s.keeps = keeps
}

// trim forgets the chunks before number n. The lock is held.
func (s *stream) trim(n int64) {
	for s.first < n && len(s.mem) > 0 {
		s.mem[0] = nil
		s.mem, s.first = s.mem[1:], s.first+1
	}
}

// slowFor is how long a client may take for a chunk of a body that is not stored while others wait.
const slowFor = 5 * time.Second

// makeRoom waits until readers have passed what is neither stored nor has room in memory.
func (s *stream) makeRoom(ctx context.Context) error {
	var slow <-chan time.Time
	for {
		wake := s.waker() // before it looks, so that no change is missed
		users := s.users()
		switch {
		case !s.pass(users):
			return nil
		case users == 0:
			return errAbandoned
		}
		if slow == nil {
			slow = time.After(slowFor)
		}
		select {
		case <-wake:
		case <-slow:
			slow = nil
			s.leaveBehind()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leaveBehind gives up the slowest reader, if it is behind others.
func (s *stream) leaveBehind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var slowest *streamBody
	most := int64(0)
	for r := range s.readers {
		if most = max(most, r.off); !r.left && (slowest == nil || r.off < slowest.off) {
			slowest = r
		}
	}
	if slowest != nil && slowest.off < most {
		slowest.left = true
		s.changed()
	}
}

// pass forgets the chunks that all readers have passed, where nothing is stored any more. It reports whether
// there are too many still. A user that does not read yet will, from the beginning.
func (s *stream) pass(users int) (full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keeps {
		return false
	}
	least := s.size
	if users > len(s.readers) {
		least = 0
	}
	for r := range s.readers {
		if !r.left {
			least = min(least, r.off)
		}
	}
	s.trim(least / s.bodies.chunk)
	return len(s.mem) > inMemory
}

// waker is closed at the next change.
func (s *stream) waker() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wake
}

// poke has the writer look again who reads.
func (s *stream) poke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed()
}

// complete stores the rest of a body that has come without an error, and makes its head. It reports
// whether all is stored.
func (s *stream) complete(h *head) bool {
	if h.size, h.id = s.size, s.id; s.declared >= 0 && s.size != s.declared {
		return false
	}
	if s.size <= maxInline && s.first == 0 && len(s.mem) <= 1 {
		if len(s.mem) > 0 {
			h.inline = s.mem[0]
		}
		s.bodies.drop(s.id, s.stored)
		return s.keeps && s.size <= s.limit
	}
	if h.chunk = s.bodies.chunk; s.size%h.chunk != 0 {
		s.keepLast()
	}
	return s.keeps
}

// end says that nothing more comes, with the error for which.
func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.declared >= 0 && s.size != s.declared {
		err = io.ErrUnexpectedEOF
	}
	s.ended, s.err = true, err
	s.changed()
}

// joinable reports whether the whole body can still be read.
func (s *stream) joinable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keeps && s.err == nil
}

// isIdle reports whether nothing has come for so long, and more is to.
func (s *stream) isIdle(limit time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && time.Since(s.grown) >= limit
}

// streamBody reads a part of a stream.
type streamBody struct {
	s        *stream
	off, end int64 // end is -1 if the length is not known
	buf      *[]byte
	blocked  func() // is called before it waits for the origin
	left     bool   // the others are too far ahead
}

func (s *stream) reader(off, end int64) *streamBody {
	b := &streamBody{s: s, off: off, end: end, blocked: func() {}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers[b] = true
	return b
}

func (b *streamBody) rest() span {
	if b.end < 0 {
		return span{b.off, -1}
	}
	return span{b.off, b.end - b.off}
}

func (b *streamBody) next(ctx context.Context) ([]byte, error) {
	for waited := false; ; {
		data, wake, err := b.inMemory()
		if wake == nil && data == nil && err == nil {
			data, err = b.fromCache(ctx)
		}
		if data != nil && b.end >= 0 {
			data = data[:min(int64(len(data)), b.end-b.off)]
		}
		if data != nil || err != nil {
			b.pass(int64(len(data)))
			return data, err
		}
		if !waited {
			waited = true
			b.blocked()
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// inMemory returns the next bytes if they are in memory, or what to wait for if they have not
// come yet; nothing of it if they are in the cache.
func (b *streamBody) inMemory() (data []byte, wake chan struct{}, err error) {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	n := b.off/s.bodies.chunk - s.first
	switch {
	case b.left:
		return nil, nil, errGone
	case b.end >= 0 && b.off >= b.end && s.ended && s.err != nil && b.end == s.declared:
		return nil, nil, s.err
	case b.end >= 0 && b.off >= b.end && (s.ended || b.end != s.declared):
		return nil, nil, io.EOF // the end of the whole is known to its reader when it is stored
	case b.off < s.size && n >= 0:
		return s.mem[n][b.off%s.bodies.chunk:], nil, nil
	case b.off < s.size:
		return nil, nil, nil
	case s.ended && s.err != nil:
		return nil, nil, s.err
	case s.ended:
		return nil, nil, io.EOF
	}
	return nil, s.wake, nil
}

func (b *streamBody) fromCache(ctx context.Context) ([]byte, error) {
	if b.buf == nil {
		b.buf = chunkBuffers.Get().(*[]byte)
	}
	return b.s.bodies.read(ctx, b.buf, b.s.id, b.s.bodies.chunk, b.off)
}

// pass moves the position. A writer may wait for it.
func (b *streamBody) pass(n int64) {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	if b.off += n; !b.s.keeps && n > 0 {
		b.s.changed()
	}
}

func (b *streamBody) close(unused bool) {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readers[b] {
		return
	}
	delete(s.readers, b)
	if s.changed(); b.buf != nil && unused {
		chunkBuffers.Put(b.buf)
	}
	b.buf = nil
}
