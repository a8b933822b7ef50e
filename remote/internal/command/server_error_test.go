package command

import (
	"testing"

	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/redis/rueidis"
)

// answers has a server answer with errors.
func answers(t *testing.T, addr string) func(says string) error {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return func(says string) error {
		return c.Do(t.Context(), New("EVAL", "return redis.error_reply(ARGV[1])", "0", says)).Error()
	}
}

func TestBusy(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	answer := answers(t, s.Addr)
	for says, want := range map[string]bool{"LOADING Redis is": true, "BUSY Redis is": true, "BUSYKEY Target": false, "CLUSTERDOWN Hash": true, "OOM command": false, "MASTERDOWN Link": true} {
		if err := answer(says); err == nil || IsBusy(err) != want {
			t.Errorf("%s: %v, want %t", says, err, want)
		}
	}
}
