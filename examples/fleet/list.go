package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// priceList is the slow source that has the last word, as a database would.
type priceList struct {
	mu     sync.Mutex
	cents  map[string]int
	asked  int // how often
	server *httptest.Server
}

func newPriceList() *priceList {
	p := &priceList{cents: map[string]int{}}
	p.server = httptest.NewServer(p)
	return p
}

func (p *priceList) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	thing := r.URL.Path[1:]
	if r.Method == http.MethodPut {
		n, _ := strconv.Atoi(r.FormValue("cents"))
		p.mu.Lock()
		p.cents[thing] = n
		p.mu.Unlock()
		return
	}
	time.Sleep(50 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	fmt.Fprint(w, p.cents[thing])
}

func (p *priceList) timesAsked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}
