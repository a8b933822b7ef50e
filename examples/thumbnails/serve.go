package main

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/firncache/firn/live"
)

// Handler serves a picture at a width, /256/picture.jpg, and the page that shows the
// cache. That page is for those who run the program: it stands here as the server is theirs alone.
func Handler(t *Thumbnails) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{width}/{name...}", t.serve)
	mux.Handle("GET /debug/firn/", live.Handler(t.cache))
	return mux
}

func (t *Thumbnails) serve(w http.ResponseWriter, r *http.Request) {
	width, err := strconv.Atoi(r.PathValue("width"))
	if err != nil {
		http.Error(w, errWidth.Error(), http.StatusBadRequest)
		return
	}
	data, err := t.Get(r.Context(), nil, r.PathValue("name"), width)
	if err != nil {
		http.Error(w, http.StatusText(statusOf(err)), statusOf(err))
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(data)
}

// statusOf is the status that tells a client of an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errWidth):
		return http.StatusBadRequest
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid):
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// listenAndServe serves until the program is asked to end.
func listenAndServe(address string, t *Thumbnails) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("pictures at http://%s/256/NAME, the cache at http://%[1]s/debug/firn/", l.Addr())
	return Serve(ctx, l, Handler(t))
}

// Serve answers requests until ctx ends, and then those that have come.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ended <- server.Shutdown(grace)
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
