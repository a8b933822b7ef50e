package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type userKey struct{}

// newContext is a loader's context, of a caller whose own has a value and is over.
func newContext() *loaderContext {
	caller, cancel := context.WithCancelCause(context.WithValue(context.Background(), userKey{}, "the caller's"))
	cancel(errors.New("the caller left"))
	return &loaderContext{values: context.WithoutCancel(caller), directives: &directives{}}
}

// A loader's context, and those made from it, have the caller's values, and end with the
// call's cause and not with the caller.
func TestLoaderContext(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, x := range []struct{ err, cause, want error }{
		{context.DeadlineExceeded, boom, boom},
		{context.Canceled, boom, boom},
		{context.Canceled, nil, context.Canceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newContext()
			c.deadline = time.Now().Add(time.Hour)
			child, cancel := context.WithCancel(context.WithValue(c, userKey{}, "the child's"))
			defer cancel()
			timed, cancelTimed := context.WithTimeout(c, 2*time.Hour)
			defer cancelTimed()
			stopped, over := 0, 0
			stop := context.AfterFunc(c, func() { stopped++ })
			context.AfterFunc(c, func() { over++ })
			if !stop() || stop() {
				t.Error("a function that was not called was not stopped once")
			}
			for _, ctx := range []context.Context{c, child, timed} {
				if err := errors.Join(ctx.Err(), context.Cause(ctx)); err != nil {
					t.Errorf("before the end: %v", err)
				}
				if d, ok := ctx.Deadline(); !ok || !d.Equal(c.deadline) {
					t.Errorf("deadline %v, %v", d, ok)
				}
				if directivesOf(ctx) != c.directives {
					t.Error("not the call's directives")
				}
			}
			if !c.end(x.err, x.cause) || c.end(errors.New("later"), errors.New("later")) {
				t.Error("it did not end once")
			}
			synctest.Wait()
			later, cancelLater := context.WithCancel(c)
			defer cancelLater()
			for _, ctx := range []context.Context{c, child, timed, later} {
				select {
				case <-ctx.Done():
				default:
					t.Error("Done is open")
				}
				if err, cause := ctx.Err(), context.Cause(ctx); err != x.err || cause != x.want {
					t.Errorf("%v for %v: want %v for %v", err, cause, x.err, x.want)
				}
			}
			context.AfterFunc(c, func() { over++ })
			if synctest.Wait(); stopped != 0 || over != 2 {
				t.Errorf("%d and %d functions were called: want 0 and 2", stopped, over)
			}
			if got := []any{c.Value(userKey{}), child.Value(userKey{}), c.Value("none")}; got[0] != "the caller's" || got[1] != "the child's" || got[2] != nil {
				t.Errorf("values %v", got)
			}
		})
	}
}
