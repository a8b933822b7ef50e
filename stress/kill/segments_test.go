package kill

import (
	"os"
	"slices"
	"sync"
)

// processes are those that may leave segments of shared memory: this one and what
// it has started.
type processes struct {
	mu   sync.Mutex
	pids []int
}

var children = processes{pids: []int{os.Getpid()}}

func (p *processes) add(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids = append(p.pids, pid)
}

// segments are the handles of the segments that the processes have made.
func (p *processes) segments() (handles []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for handle, maker := range allSegments() {
		if slices.Contains(p.pids, maker) {
			handles = append(handles, handle)
		}
	}
	return handles
}

func (p *processes) removeSegments() {
	for _, handle := range p.segments() {
		removeSegment(handle)
	}
}
