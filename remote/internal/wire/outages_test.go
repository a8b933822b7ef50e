package wire

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/loglines"
	"github.com/firncache/firn/remote/internal/link"
)

// Of outages that come one after the other, a few in each minute are logged; the last says so.
func TestOutagesLogged(t *testing.T) {
	var o outages
	if !o.logged() {
		t.Error("what ends without an outage is not logged")
	}
	const every = time.Minute / (4 * maxOutages)
	logged, ends, lasts := 0, 0, 0
	for now := time.Duration(0); now <= 10*time.Minute; now += every {
		log, last := o.begin(int64(now))
		if log {
			logged++
		}
		if last {
			lasts++
		}
		if o.logged() {
			ends++
		}
	}
	if logged != 10*maxOutages || ends != logged || lasts != 10 {
		t.Errorf("%d beginnings, %d ends in 10 minutes, of which %d as the last: want %d, %[4]d, 10", logged, ends, lasts, 10*maxOutages)
	}
}

// A server that answers too late each time does not fill the log.
func TestSlowServerLogged(t *testing.T) {
	var log strings.Builder
	w := New(&Common{Settings: link.Settings{Log: loglines.To(slog.New(slog.NewTextHandler(&log, nil)))}}, "server:1")
	for range 100 {
		w.presence.set(true)
		w.presence.set(false)
	}
	w.common.Log.Wait(t.Context(), time.Minute)
	text := log.String()
	if away, back := strings.Count(text, "fail at once"), strings.Count(text, "answers again"); away != maxOutages || back != away || !strings.Contains(text, "the last line of it") {
		t.Errorf("%d, %d lines: want %d\n%s", away, back, maxOutages, text)
	}
}
