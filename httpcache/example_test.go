package httpcache_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// openCache makes a cache for the examples.
func openCache() (*firn.Cache, *httpcache.Cache) {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	responses, err := httpcache.New(cache, "pages", httpcache.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return cache, responses
}

// A client asks a server once for what the server says is fresh for a minute.
func ExampleCache_Transport() {
	cache, responses := openCache()
	defer cache.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, "hello")
	}))
	defer server.Close()

	client := &http.Client{Transport: responses.Transport(nil)}
	for range 2 {
		resp, err := client.Get(server.URL)
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Printf("%s, hit: %v\n", body, strings.Contains(resp.Header.Get("Cache-Status"), "; hit;"))
	}
	// Output:
	// hello, hit: false
	// hello, hit: true
}

// Middleware before a handler that takes long.
func ExampleCache_Handler() {
	cache, responses := openCache()
	defer cache.Close()
	calls := 0
	handler := responses.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Cache-Tag", "menu")
		fmt.Fprint(w, "page ", calls)
	}))
	get := func() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		fmt.Println(w.Body)
	}
	get()
	get()
	if err := responses.PurgeTag(httptest.NewRequest("GET", "/", nil).Context(), "menu"); err != nil {
		log.Fatal(err)
	}
	get()
	// Output:
	// page 1
	// page 1
	// page 2
}
