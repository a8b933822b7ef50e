package shared

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Op is a kind of operation.
type Op string

// The operations there are.
const (
	Hit   Op = "hit"   // a Get of a value that the process has
	Fetch Op = "fetch" // a Get of a value that another client has just written
	Load  Op = "load"  // of a value that is nowhere
	Set   Op = "set"
	// Of BatchSize keys; one operation is a key.
	FetchBatch Op = "fetchbatch"
	SetBatch   Op = "setbatch"
)

// Ops are in the order of the tables.
var Ops = []Op{Hit, Fetch, Load, Set, FetchBatch, SetBatch}

func (op Op) batch() bool { return op == FetchBatch || op == SetBatch }

// Goroutines are the numbers of callers.
var Goroutines = []int{1, 2, 64}

// BatchSize is the number of keys of a batch.
const BatchSize = 32

// hotKeys is how many keys Hit reads, again and again.
const hotKeys = 1024

// distance is how many local hits take about as long as one of the server.
const distance = 128

// A Turn is the result of one store in one turn.
type Turn struct {
	Store  string
	Repeat int
	Ops    int64
	Ns     float64 // per operation: elapsed time over operations, all goroutines together
}

// Bench is some stores beside one server.
type Bench struct {
	server *Server
	stores []*Store
	other  *Other
	value  []byte
}

// NewBench opens the stores beside a server.
func NewBench(server *Server, names []string, valueSize int) (*Bench, error) {
	b := &Bench{server: server, value: make([]byte, valueSize)}
	var err error
	if b.other, err = newOther(server.Addr); err != nil {
		return nil, err
	}
	for _, name := range names {
		s, err := open(name, server.Addr)
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.stores = append(b.stores, s)
	}
	return b, nil
}

// Close closes the stores.
func (b *Bench) Close() {
	for _, s := range b.stores {
		s.Close()
	}
	b.other.Close()
}

// Play lets the stores take turns of n operations each at one operation. The first turn of each warms
// up and does not count.
func (b *Bench) Play(op Op, goroutines, n, repeats int) (turns []Turn, err error) {
	for repeat := -1; repeat < repeats; repeat++ {
		for _, s := range b.stores {
			if s.Single && op.batch() {
				continue
			}
			n := n
			if op == Hit && s.Distant {
				n /= distance
			}
			whole := goroutines * BatchSize
			t, err := b.turn(s, op, goroutines, max(n-n%whole, whole))
			if err != nil {
				return turns, fmt.Errorf("%s of %s: %w", op, s.Name, err)
			}
			if t.Repeat = repeat; repeat >= 0 {
				turns = append(turns, t)
			}
		}
	}
	return turns, nil
}

// turn is one of them. Another client first writes the values that are to be fetched, and
// removes those to be loaded.
func (b *Bench) turn(s *Store, op Op, goroutines, n int) (Turn, error) {
	keys := makeKeys(s.Name, n)
	if op == Hit {
		keys = keys[:min(hotKeys, n)]
	}
	ctx := context.Background()
	if err := b.prepare(ctx, s, op, keys); err != nil {
		return Turn{}, err
	}
	errs := make([]error, goroutines)
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(goroutines)
	per := n / goroutines
	for g := range goroutines {
		session := s.Session()
		mine := keys
		if op != Hit {
			mine = keys[g*per : (g+1)*per]
		}
		done.Go(func() {
			ready.Done()
			<-start
			errs[g] = b.run(ctx, session, op, mine, per)
		})
	}
	ready.Wait()
	began := time.Now()
	close(start)
	done.Wait()
	took := time.Since(began)
	for _, err := range errs {
		if err != nil {
			return Turn{}, err
		}
	}
	ops := int64(per * goroutines)
	return Turn{Store: s.Name, Ops: ops, Ns: float64(took.Nanoseconds()) / float64(ops)}, nil
}

// prepare makes the server and the store what the operation wants to find.
func (b *Bench) prepare(ctx context.Context, s *Store, op Op, keys []Key) error {
	switch op {
	case Hit:
		session := s.Session()
		for _, k := range keys {
			if err := session.Set(ctx, k, b.value); err != nil {
				return err
			}
		}
		for _, k := range keys { // a client that caches what it reads has it now
			if err := session.Get(ctx, k); err != nil {
				return err
			}
		}
	case Fetch, FetchBatch:
		return b.other.rewrite(ctx, s, keys, b.value)
	case Load:
		return b.other.remove(ctx, s, keys)
	}
	return nil
}

// run does n operations.
func (b *Bench) run(ctx context.Context, s Session, op Op, keys []Key, n int) error {
	step := 1
	if op.batch() {
		step = BatchSize
	}
	for i := 0; i < n; i += step {
		at := i % len(keys)
		var err error
		switch op {
		case Hit:
			err = s.Get(ctx, keys[at])
		case Fetch:
			err = s.Fetch(ctx, keys[at])
		case Load:
			err = s.Load(ctx, keys[at], func() []byte { return b.value })
		case Set:
			err = s.Set(ctx, keys[at], b.value)
		case FetchBatch:
			err = s.GetMulti(ctx, keys[at:at+step])
		case SetBatch:
			err = s.SetMulti(ctx, keys[at:at+step], b.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeKeys are n keys of 16 bytes.
func makeKeys(store string, n int) []Key {
	keys := make([]Key, n)
	for i := range keys {
		keys[i].S = fmt.Sprintf("%.4s%012d", store+"____", i)
		keys[i].B = []byte(keys[i].S)
	}
	return keys
}
