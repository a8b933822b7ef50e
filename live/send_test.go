package live

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// A client has more time for more bytes: a slow line gets the figures of many caches, and one that
// takes nothing is dropped.
func TestSlowLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []Named
		for range 80 {
			list = append(list, Named{Cache: open(t)})
		}
		_, client := serve(t, New(Options{Caches: list}), nil)
		for _, test := range []struct {
			pause time.Duration
			whole bool
		}{{writeTimeout + 5*time.Second, true}, {time.Minute, false}} {
			resp, err := client.Get("http://page/stats.json")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(test.pause)
			n, err := io.Copy(io.Discard, resp.Body)
			if whole := err == nil && n == resp.ContentLength; whole != test.whole {
				t.Errorf("%d of %d bytes after a pause of %v: %v", n, resp.ContentLength, test.pause, err)
			}
			_ = resp.Body.Close()
		}
	})
}
