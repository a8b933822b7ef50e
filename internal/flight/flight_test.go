package flight

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// sharing is a Group whose requests wait until they are answered.
type sharing struct {
	t       *testing.T
	g       Group[string, int]
	now     int64
	sent    int
	answers chan int
}

func newSharing(t *testing.T) *sharing {
	s := &sharing{t: t, answers: make(chan int)}
	s.g.Now = func() int64 { return s.now }
	return s
}

// do calls Do, and returns where its answer will be.
func (s *sharing) do(ctx context.Context, key string, since int64) <-chan int {
	got := make(chan int, 1)
	go func() {
		v, err := s.g.Do(ctx, key, since, func(context.Context) (int, error) { s.sent++; return <-s.answers, nil })
		if err != nil {
			v = -1
		}
		got <- v
	}()
	synctest.Wait()
	return got
}

func (s *sharing) want(sent int) {
	s.t.Helper()
	if s.sent != sent {
		s.t.Fatalf("%d requests were sent: want %d", s.sent, sent)
	}
}

// answer answers one request, and waits for what follows.
func (s *sharing) answer(v int) {
	s.answers <- v
	synctest.Wait()
}

// A caller joins a request that was sent late enough; all others share the next one.
func TestSharedByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := newSharing(t), t.Context()
		s.now = 100
		first, second := s.do(ctx, "k", 90), s.do(ctx, "k", 100)
		late, later := s.do(ctx, "k", 101), s.do(ctx, "k", After)
		s.want(1)
		other := s.do(ctx, "other", Any)
		s.want(2)
		s.now = 200
		s.answer(1) // of one of them
		s.answer(1)
		s.want(3)
		joined := s.do(ctx, "k", 200)
		s.want(3)
		s.answer(2)
		for _, got := range []<-chan int{first, second, other} {
			if v := <-got; v != 1 {
				t.Errorf("%d: want the answer to the first", v)
			}
		}
		for _, got := range []<-chan int{late, later, joined} {
			if v := <-got; v != 2 {
				t.Errorf("%d: want the answer to the next", v)
			}
		}
		again := s.do(ctx, "k", Any)
		s.want(4)
		if s.answer(3); <-again != 3 {
			t.Error("an answer that is there is shared")
		}
	})
}

// A request goes on for others, and for itself, when who has sent it gives up.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSharing(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		mine, other := s.do(ctx, "k", Any), s.do(t.Context(), "k", Any)
		cancel(errors.New("enough"))
		synctest.Wait()
		if v := <-mine; v != -1 {
			t.Errorf("%d: want the context's error", v)
		}
		if s.answer(7); <-other != 7 {
			t.Error("the other one did not get the answer")
		}
		s.want(1)
	})
}

// A call whose context has ended before it gets that error, also where an answer would be ready at
// once.
func TestEndedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string, int]
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 {
			_, err := g.Do(ctx, "k", Any, func(context.Context) (int, error) {
				t.Error("a request was sent")
				return 0, nil
			})
			if synctest.Wait(); err != context.Canceled {
				t.Fatalf("%v: want canceled", err)
			}
		}
	})
}
