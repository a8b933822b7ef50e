package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/slots"
)

// counted is a key whose value is a counter, and its copy in a store that follows the rule of
// copies.
type counted struct {
	key []byte

	mu    sync.Mutex
	acked []ack // the writer's, in order

	copy       uint64
	stamp      shared.Stamp // 0: no copy
	generation uint64       // raised by a push
}

// ack is that a value was acknowledged.
type ack struct {
	value uint64
	at    time.Time
}

// copying is a store with copies of counted keys.
type copying struct {
	*store
	keys map[string]*counted
}

func (s *copying) Invalidate(key []byte) {
	if k := s.keys[string(key)]; k != nil {
		k.mu.Lock()
		k.stamp = 0
		k.generation++
		k.mu.Unlock()
	}
}

// read is a copy if that is trusted, or what the cluster has.
func (k *counted) read(ctx context.Context, tier *sharedTier, trust *shared.Trust) (value uint64, local bool, err error) {
	k.mu.Lock()
	generation := k.generation
	if k.stamp != 0 && trust.Holds(k.stamp) {
		defer k.mu.Unlock()
		return k.copy, true, nil
	}
	k.mu.Unlock()
	f, err := tier.Read(ctx, nil, shared.Query{Key: k.key})
	if err != nil {
		return 0, false, err
	}
	value = binary.LittleEndian.Uint64(f.Value)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation == generation {
		k.copy, k.stamp = value, f.Stamp
	}
	return value, false, nil
}

// due is the newest value that was acknowledged at a time.
func (k *counted) due(at time.Time) (value uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.acked) - 1; i >= 0; i-- {
		if !k.acked[i].at.After(at) {
			return k.acked[i].value
		}
	}
	return 0
}

// While slots move and a primary hands over, every read returns a value that is at least as new as
// the cluster had it the bound ago.
func TestClusterReadsAndWritesWhileSlotsMove(t *testing.T) {
	t.Parallel()
	c := startCluster(t, servertest.ClusterOptions{})
	tier, err := openTier(Options{Addrs: []string{c.Nodes[0].Addr}, Namespace: "test", Staleness: clusterStaleness, Timeout: servertest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	s := &copying{store: newStore(), keys: map[string]*counted{}}
	for i := range 12 {
		key := fmt.Sprint("load", i)
		s.keys[key] = &counted{key: []byte(key)}
	}
	trust, err := tier.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close(context.Background())
	var stop atomic.Bool
	var local, asked atomic.Uint64
	var all sync.WaitGroup
	for _, k := range s.keys {
		all.Go(func() { c.count(k, &stop) })
		all.Go(func() { readCounted(t, k, tier, trust, &stop, &local, &asked) })
	}
	c.moveAbout(s)
	stop.Store(true)
	all.Wait()
	if local.Load() == 0 || asked.Load() == 0 {
		t.Errorf("%d reads of copies, %d of the cluster: want some of both", local.Load(), asked.Load())
	}
}

// count writes a key's next value again and again.
func (c *clusterOf) count(k *counted, stop *atomic.Bool) {
	for n := uint64(1); !stop.Load(); {
		entry := shared.Entry{Key: k.key, Value: binary.LittleEndian.AppendUint64(nil, n)}
		if _, err := c.writer.Write(context.Background(), entry, shared.Anything); err != nil {
			continue // perhaps it was written: the same value again
		}
		k.mu.Lock()
		k.acked = append(k.acked, ack{n, time.Now()})
		k.mu.Unlock()
		n++
		time.Sleep(time.Millisecond) // so that copies live for a while
	}
}

// readCounted reads a key again and again.
func readCounted(t *testing.T, k *counted, tier *sharedTier, trust *shared.Trust, stop *atomic.Bool, local, asked *atomic.Uint64) {
	for !stop.Load() {
		due := k.due(time.Now().Add(-clusterStaleness))
		value, copied, err := k.read(context.Background(), tier, trust)
		switch {
		case errors.Is(err, shared.ErrNotFound) && due == 0, errors.Is(err, shared.ErrUnavailable):
		case err != nil || value < due:
			t.Errorf("%s: %d, %v (a copy: %v), but %d was acknowledged longer ago than the bound", k.key, value, err, copied, due)
			return
		case copied:
			local.Add(1)
		default:
			asked.Add(1)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// moveAbout moves the keys' slots, with their keys, in turn to every primary, and has two
// primaries hand over to their replicas.
func (c *clusterOf) moveAbout(s *copying) {
	for round := range 3 {
		for key := range s.keys {
			slot := slots.Of(c.reader.names.Entry([]byte(key)))
			from := c.Owner(slot, c.Nodes[0])
			if to := c.Nodes[round]; to != from {
				c.Migrate(slot, from, to)
				c.WaitOwner(slot, to)
			}
		}
	}
	for _, primary := range c.Nodes[:2] {
		c.Failover(c.Pair(primary))
	}
	c.WaitOK()
}
