package live_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/firncache/firn"
	"github.com/firncache/firn/live"
)

// The page of a cache is below a path of your server, and so are its figures for
// Prometheus.
func ExampleHandler() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	cache.Set([]byte("glacier"), []byte("ice"))

	mux := http.NewServeMux()
	mux.Handle("/debug/firn/", live.Handler(cache))
	server := httptest.NewServer(mux) // yours: http.ListenAndServe("localhost:8080", mux)
	defer server.Close()

	response, err := http.Get(server.URL + "/debug/firn/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, "firn_sets_total") {
			fmt.Print(line)
		}
	}
	// Output: firn_sets_total{cache="cache 1"} 1
}
