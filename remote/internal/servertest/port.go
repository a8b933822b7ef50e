package servertest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are taken from blocks, of those that are not given to outgoing connections. A process
// owns the block whose first port it listens on, until it ends, and gives each other port of it
// to one server alone: a server may be started late, or again, and finds its port free.
const (
	lowestPort  = 10000
	highestPort = 29999
	portBlock   = 100
)

// ports is what this process has left of its present block.
var ports struct {
	mu        sync.Mutex
	next, end int
	owned     []net.Listener // keeps the blocks
}

// FreePort is a port that nobody listens on, and that no other call has given or gives.
func FreePort(t testing.TB) int {
	t.Helper()
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for range highestPort - lowestPort {
		if ports.next == ports.end && !ownBlock() {
			continue
		}
		port := ports.next
		ports.next++
		if l, err := listen(port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("no free port from %d to %d", lowestPort, highestPort)
	return 0
}

// ownBlock tries to own a block more. ports.mu is held.
func ownBlock() bool {
	const blocks = (highestPort + 1 - lowestPort) / portBlock
	first := lowestPort + portBlock*rand.IntN(blocks)
	l, err := listen(first)
	if err != nil {
		return false
	}
	ports.owned = append(ports.owned, l)
	ports.next, ports.end = first+1, first+portBlock
	return true
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
