package load

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// A value that nobody wants any more is no answer, wherever it is found: it is loaded anew, and
// replaced.
func TestObsoleteValueOnServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		b.store.SetObsolete(func(_, head []byte) (obsolete bool, since int64) { return bytes.HasPrefix(head, []byte("old")), 0 }, nil)
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		b.expect("k", "new", b.loader("new", nil, 0), 1)
		a.expect("k", "new", a.loader("old", nil, 0), 0)
	})
}

// A load that has taken over from another process goes on when its caller leaves, as any.
func TestLoadTakenOverOutlivesCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		first := a.begin("k", a.loader("", errSource, time.Second))
		ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
		defer leave()
		told := context.Canceled
		_, err := b.getOrLoad(ctx, "k", func(ctx context.Context, _ []byte) ([]byte, error) {
			time.Sleep(5 * time.Second)
			if told = ctx.Err(); told != nil {
				return nil, told
			}
			return []byte("by b"), nil
		})
		if err != context.DeadlineExceeded {
			t.Error(err)
		}
		<-first
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if told != nil {
			t.Errorf("the loader was told %v", told)
		}
		b.local("k", "by b")
		onServer(t, server, "k", "by b")
	})
}

// While a value is on its way to the server, which may have it already, the one from before is
// no local answer.
func TestOlderCopyGoesBeforeStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a := beginProcess(t, server, Options{})
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		served, goOn := make(chan bool), make(chan bool)
		a.tier.OnReply = func(call, _ string) {
			if call == "Write" {
				served <- true
				<-goOn
			}
		}
		go func() { _, _ = a.refresh("k", a.loader("new", nil, 0)) }()
		<-served
		onServer(t, server, "k", "new")
		a.local("k", none)
		close(goOn)
		synctest.Wait()
		a.local("k", "new")
	})
}

// A load that finds no value takes out the one from before, and none that came meanwhile.
func TestNoValueRemovesOlderAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		a.tier.HoldPushes()
		go func() { _, _ = a.refresh("k", a.loader("", local.ErrNotFound, time.Second)) }()
		synctest.Wait()
		b.set("k", "set")
		time.Sleep(time.Second)
		synctest.Wait()
		onServer(t, server, "k", "set")
		a.local("k", none)
	})
}

// Without leases, a load that a Clear of its process has overtaken stores nothing.
func TestClearWinsOverLoadWithoutLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		server.Leases = false
		a := beginProcess(t, server, Options{})
		slow := a.begin("k", a.loader("old", nil, time.Second))
		if err := a.store.Clear(); err != nil {
			t.Fatal(err)
		}
		answer(t, slow, "old", time.Second)
		onServer(t, server, "k", none)
		a.local("k", none)
	})
}
