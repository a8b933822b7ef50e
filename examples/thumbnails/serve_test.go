package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/jpeg"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// fetch is what a server answers.
func fetch(t *testing.T, url string) (status int, kind string, body []byte) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Content-Type"), body
}

// Pictures come as wide as asked for, the page shows the cache beside them, and the server
// ends in order: also while somebody looks at the page.
func TestServe(t *testing.T) {
	dir, files := t.TempDir(), pictures(t, 2)
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- with(dir, files, func(thumbnails *Thumbnails) error { return Serve(ctx, l, Handler(thumbnails)) })
	}()
	url := "http://" + l.Addr().String()
	for range 2 {
		status, kind, body := fetch(t, url+"/256/picture%201.jpg")
		picture, err := jpeg.Decode(bytes.NewReader(body))
		if status != http.StatusOK || kind != "image/jpeg" || err != nil || picture.Bounds().Dx() != 256 {
			t.Fatalf("status %d, %s, %v", status, kind, err)
		}
	}
	for path, want := range map[string]int{
		"/256/none.jpg": 404, "/256/": 404, "/256/%2e%2e/secret": 404, "/wide/picture%201.jpg": 400, "/0/picture%201.jpg": 400, "/256": 404,
	} {
		if status, _, _ := fetch(t, url+path); status != want {
			t.Errorf("%s: status %d, want %d", path, status, want)
		}
	}
	checkPage(t, url+"/debug/firn/")
	stream, err := http.Get(url + "/debug/firn/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// checkPage looks at the page and at its figures.
func checkPage(t *testing.T, url string) {
	t.Helper()
	if status, kind, body := fetch(t, url); status != http.StatusOK || !strings.HasPrefix(kind, "text/html") || !bytes.Contains(body, []byte("<title>")) {
		t.Errorf("the page: status %d, %s", status, kind)
	}
	var figures struct {
		Caches []struct{ Name string }
	}
	status, _, body := fetch(t, url+"stats.json")
	if err := json.Unmarshal(body, &figures); err != nil || status != http.StatusOK || len(figures.Caches) != 1 {
		t.Errorf("figures: status %d, %v, %s", status, err, body)
	}
}
