package outage

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/faultproxy"
)

var (
	day     = flag.Bool("day", false, "go through every outage, and print the table")
	lasting = flag.Duration("lasting", time.Minute, "how long an outage lasts in the table")
)

// brief is how long the outage of the test lasts.
const brief = 3 * bound

// outages are what befalls the server; each begins when it is called, and ends before it returns.
var outages = []struct {
	name string
	do   func(t *testing.T, f *fleet, lasts time.Duration)
}{
	{"none", func(_ *testing.T, _ *fleet, d time.Duration) { time.Sleep(d) }},
	{"killed, and back without data", func(_ *testing.T, f *fleet, d time.Duration) {
		f.server.Kill()
		time.Sleep(d)
		f.server.Restart()
	}},
	{"killed, and back from an old dump", func(_ *testing.T, f *fleet, d time.Duration) {
		f.server.Do("SAVE")
		time.Sleep(d / 4)
		f.server.Kill()
		time.Sleep(d / 2)
		f.server.Restart()
		time.Sleep(d / 4)
	}},
	{"without room: it takes no write", func(_ *testing.T, f *fleet, d time.Duration) {
		f.server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		f.server.Do("CONFIG", "SET", "maxmemory", "1")
		time.Sleep(d)
		f.server.Do("CONFIG", "SET", "maxmemory", "0")
	}},
	{"evicting: others' data takes its memory ten times", func(t *testing.T, f *fleet, d time.Duration) {
		const room, of = 1 << 20, 1 << 10
		used, err := strconv.Atoi(f.server.Info("used_memory", "INFO", "memory"))
		if err != nil {
			t.Error(err)
		}
		f.server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		f.server.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(used+room))
		value, tick := strings.Repeat("v", of), time.NewTicker(d/(10*room/of))
		defer tick.Stop()
		for i := range 10 * room / of {
			f.server.Do("SET", fmt.Sprint("other", i), value)
			<-tick.C
		}
		f.server.Do("CONFIG", "SET", "maxmemory", "0")
	}},
	{"its answers are lost", func(_ *testing.T, f *fleet, d time.Duration) {
		f.proxied(func(p *faultproxy.Proxy) { p.Hold(faultproxy.ToClient) })
		time.Sleep(d)
		f.proxied((*faultproxy.Proxy).Heal)
	}},
	{"slow by 2 s", func(_ *testing.T, f *fleet, d time.Duration) {
		f.proxied(func(p *faultproxy.Proxy) { p.Delay(faultproxy.ToClient, 2*time.Second) })
		time.Sleep(d)
		f.proxied((*faultproxy.Proxy).Heal)
	}},
}

func (f *fleet) proxied(do func(*faultproxy.Proxy)) {
	for _, p := range f.proxies {
		do(p)
	}
}

// row is what one outage came to.
type row struct {
	loads, reads, errors, lines int64
	each                        float64 // loads of a key by a cache in the time of a bound
	oldest                      time.Duration
}

// suffer has a fleet go through an outage.
func suffer(t *testing.T, degraded remote.Degraded, do func(*testing.T, *fleet, time.Duration), lasts time.Duration) row {
	f := newFleet(t, degraded)
	ctx, stop := context.WithCancel(t.Context())
	wait := f.run(ctx)
	time.Sleep(2 * bound)
	f.reset()
	began := time.Now()
	do(t, f, lasts)
	took := time.Since(began)
	r := row{f.loads.Load(), f.reads.Load(), f.errors.Load(), f.lines.n.Load(), 0, time.Duration(f.oldest.Load())}
	stop()
	wait()
	r.each = float64(r.loads) / keys / caches / (float64(took) / float64(bound))
	return r
}

// While the server is away the source is asked for a key once in each bound and process.
func TestOutageCostsOneLoadEachBound(t *testing.T) {
	lasts := brief
	do := outages[1].do
	began := time.Now()
	r := suffer(t, remote.DegradedMiss, do, lasts)
	most := int64(keys*caches) * (int64(time.Since(began)/bound) + 2)
	t.Logf("%+v", r)
	if r.loads > most || r.loads == 0 {
		t.Errorf("%d loads of %d reads: want one of a key in each bound and cache, %d", r.loads, r.reads, most)
	}
}

// TestDay prints the table.
func TestDay(t *testing.T) {
	if !*day {
		t.Skip("it takes minutes: -day")
	}
	var table strings.Builder
	policies := []remote.Degraded{remote.DegradedMiss, remote.DegradedStale, remote.DegradedError}
	fmt.Fprintf(&table, "| %d caches, %d keys, %v | `Degraded` | reads | loads | a key, bound and process | oldest answer | errors | log lines |\n|---|---|---|---|---|---|---|---|\n", caches, keys, *lasting)
	for _, o := range outages {
		rows := make([]row, len(policies))
		var all sync.WaitGroup
		for i, degraded := range policies {
			all.Go(func() { rows[i] = suffer(t, degraded, o.do, *lasting) })
		}
		all.Wait()
		for i, r := range rows {
			fmt.Fprintf(&table, "| %s | %v | %d | %d | %.2f | %v | %d | %d |\n", o.name, policies[i], r.reads, r.loads, r.each, r.oldest.Round(10*time.Millisecond), r.errors, r.lines)
		}
	}
	t.Logf("\n%s", table.String())
}
