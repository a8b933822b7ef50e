package command

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/replay"
)

// slow is a rival that takes a millisecond for each read.
type slow struct{ forgetful }

func (slow) Get(dst, _ []byte) ([]byte, bool) {
	time.Sleep(time.Millisecond)
	return dst, false
}

// A run ends with its time, and says how much of the work it did; that is no
// interrupt.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := func(replay.StoreOptions) (replay.Store, error) { return slow{}, nil }
		for _, test := range []struct {
			args        []string
			least, most int64
			share       float64
		}{
			{[]string{"-time", "1s", "-limit", "4000"}, 999, 1064, 0.25},
			{[]string{"-time", "1m", "-limit", "500"}, 500, 500, 1},
			{[]string{"-time", "0", "-limit", "500"}, 500, 500, 1},
		} {
			o := parse(t, append(test.args, "-goroutines", "1")...)
			r, err := o.Replay(context.Background(), "", "slow", 1<<20, open, nil)
			if err != nil || r.Interrupted || r.Requests < test.least || r.Requests > test.most || r.ShareDone < test.share || r.ShareDone > test.share*1.1 {
				t.Errorf("%v: %d requests, share %v, interrupted %v, %v", test.args, r.Requests, r.ShareDone, r.Interrupted, err)
			}
		}
	})
}

// Only a run of generated requests whose number nobody said has a limit of its own.
func TestDefaultTime(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]time.Duration{"": defaultTime, "-time 0": 0, "-time 3s": 3 * time.Second, "-limit 7": 0, "trace": 0} {
		var o Options
		cmd := &cli.Command{Name: "test", Flags: Flags(), Action: func(_ context.Context, cmd *cli.Command) (err error) {
			o, err = ParseOptions(cmd)
			o.SetDefaultTime(cmd)
			return err
		}}
		if status := Main(context.Background(), cmd, append([]string{"test"}, strings.Fields(args)...), io.Discard, io.Discard); status != StatusOK || o.Time != want {
			t.Errorf("%q: status %d, %v, want %v", args, status, o.Time, want)
		}
	}
}
