package wire

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Requests that begin together end together, none later than its time, nor earlier by more than a
// share of it; a caller's own end counts, and another time is another timer's.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const d = patienceShare * time.Millisecond
		var p patience
		ends := func(ctx context.Context) time.Duration {
			within, stop := p.with(ctx, d)
			defer stop()
			began := time.Now()
			<-within.Done()
			return time.Since(began)
		}
		var got [3]time.Duration
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i] = ends(context.Background()) })
			time.Sleep(time.Millisecond / 2)
		}
		wg.Wait()
		if want := [...]time.Duration{d, d - time.Millisecond/2, d}; got != want {
			t.Errorf("they ended after %v: want %v", got, want)
		}
		own, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if took := ends(own); took != time.Millisecond {
			t.Errorf("a caller's own end came after %v", took)
		}
		a, _ := p.with(context.Background(), d)
		b, _ := p.with(context.Background(), 2*d)
		if at, _ := a.Deadline(); time.Until(at) != d {
			t.Errorf("%v are left", time.Until(at))
		}
		if at, _ := b.Deadline(); time.Until(at) != 2*d {
			t.Errorf("%v are left of twice the time", time.Until(at))
		}
	})
}
