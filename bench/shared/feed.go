package shared

import (
	"context"
	"sync"
	"time"
)

// Subscribers are the numbers of caches that the feed is measured with.
var Subscribers = []int{0, 1, 8, 64}

// Feed measures what the caches that listen cost the server's writers: each turn, n Sets of one
// client without a cache, by 64 goroutines, are announced to so many of firn's caches.
func Feed(server *Server, subscribers, n, repeats, valueSize int) (turns []Turn, err error) {
	other, err := newOther(server.Addr)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	for range subscribers {
		s, err := openFirn(server.Addr)
		if err != nil {
			return nil, err
		}
		defer s.Close()
	}
	keys, value := makeKeys("feed", n), make([]byte, valueSize)
	for i := range keys { // as firn's keys are called
		keys[i].S = "firn:k" + keys[i].S
	}
	for repeat := -1; repeat < repeats; repeat++ {
		took, err := other.setAll(keys, value)
		if err != nil {
			return turns, err
		}
		if repeat >= 0 {
			turns = append(turns, Turn{Store: "firn", Repeat: repeat, Ops: int64(n), Ns: float64(took.Nanoseconds()) / float64(n)})
		}
	}
	return turns, nil
}

// setAll sets all keys, and returns how long that took.
func (o *Other) setAll(keys []Key, value []byte) (time.Duration, error) {
	const writers = 64
	session := rueidisSession{o.c}
	errs := make([]error, writers)
	var done sync.WaitGroup
	began := time.Now()
	for w := range writers {
		done.Go(func() {
			for i := w; i < len(keys) && errs[w] == nil; i += writers {
				errs[w] = session.Set(context.Background(), keys[i], value)
			}
		})
	}
	done.Wait()
	took := time.Since(began)
	for _, err := range errs {
		if err != nil {
			return took, err
		}
	}
	return took, nil
}
