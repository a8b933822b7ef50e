package kill

import (
	"fmt"
	"os"
	"slices"
	"sync"
)

// segment is a segment of shared memory, as the system lists it.
type segment struct {
	handle, maker, attached int
	bytes                   int64
}

func (s segment) String() string {
	return fmt.Sprintf("segment %d: %d bytes, made by process %d, attached by %d", s.handle, s.bytes, s.maker, s.attached)
}

// processes are those that may leave segments of shared memory: this one and what
// it has started.
type processes struct {
	mu     sync.Mutex
	pids   []int
	before []int // the handles that others had left: their makers' pids may be ours by now
}

var children = processes{pids: []int{os.Getpid()}}

// begin notes what is there before the first test.
func (p *processes) begin() {
	for _, s := range allSegments() {
		p.before = append(p.before, s.handle)
	}
}

func (p *processes) add(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids = append(p.pids, pid)
}

// segments are those that the processes have made.
func (p *processes) segments() (made []segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range allSegments() {
		if slices.Contains(p.pids, s.maker) && !slices.Contains(p.before, s.handle) {
			made = append(made, s)
		}
	}
	return made
}

func (p *processes) removeSegments() {
	for _, s := range p.segments() {
		removeSegment(s.handle)
	}
}
