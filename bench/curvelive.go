package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/live"
)

// liveViewers are how many follow the live page.
var liveViewers = []int{0, 1, 10}

// liveFrames is how many frames are taken in one turn. The page takes one a second.
func (j job) liveFrames() int {
	if j.Small {
		return 5
	}
	return 100
}

func curveLiveWeight(j job) float64 { return 1 + 0.01*float64(j.Repeats*len(liveViewers)) }

// runCurveLive measures the processor's time of the live page's frames, the viewers' included: they
// are goroutines of this process, with connections by TCP.
func runCurveLive(j job, out *emitter) error {
	c, err := firn.Open(firn.Options{RAMBytes: j.config().Bytes})
	if err != nil {
		return err
	}
	defer c.Close()
	player, err := rivals.FirnOf(c, nil)
	if err != nil {
		return err
	}
	stream, err := keys.New(keys.Zipf, j.Entries, j.Entries, 1)
	if err != nil {
		return err
	}
	page := live.Handler(c)
	for _, n := range liveViewers {
		followed, stop, err := follow(page, n)
		if err != nil {
			return err
		}
		for repeat := range j.Repeats {
			percent, err := j.timeFrames(page, player, stream, followed)
			if err != nil {
				return err
			}
			s := j.measure(fmt.Sprintf("share/viewers=%d", n), percent, "%", nil)
			s.Repeat = repeat
			out.emit(s)
		}
		if err := stop(); err != nil {
			return err
		}
	}
	return nil
}

// timeFrames is the time of frames that one of a processor would take a second, in percent. Between
// them the cache has requests, so that figures differ: what these take is not counted.
func (j job) timeFrames(page http.Handler, c rivals.Cache, stream keys.Stream, followed func() error) (percent float64, err error) {
	value, buf := makeValue(j.ValueSize), make([]byte, 0, j.ValueSize)
	took := 0.0
	at := time.Now()
	for frame := range j.liveFrames() {
		for part := stream.Slice(frame*1000, min(1000, stream.Len())); len(part) > 0; part = part[keys.Size:] {
			if _, ok := c.Get(buf, part[:keys.Size]); !ok {
				c.Set(part[:keys.Size], value)
			}
		}
		at = at.Add(time.Second)
		began := samples.OwnSeconds()
		inside.Collect(page, at)
		if err := followed(); err != nil {
			return 0, err
		}
		took += samples.OwnSeconds() - began
	}
	return 100 * took / float64(j.liveFrames()), nil
}

// follow lets viewers follow a page. followed returns when each has the next frame.
func follow(page http.Handler, viewers int) (followed func() error, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: page, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until it is closed
	stop = func() error { cancel(); return server.Close() }
	frames := make(chan error, viewers)
	followed = func() error {
		for range viewers {
			if err := <-frames; err != nil {
				return fmt.Errorf("follow the live page: %w", err)
			}
		}
		return nil
	}
	for range viewers {
		if err := view(ctx, "http://"+l.Addr().String()+"/events", frames); err != nil {
			return nil, nil, err
		}
	}
	return followed, stop, followed() // the last frame comes at once
}

// view begins to follow a page, and says of each frame that it is there, or why no more come.
func view(ctx context.Context, url string, frames chan<- error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	go func() {
		defer answer.Body.Close()
		for lines := bufio.NewReaderSize(answer.Body, 1<<16); ; {
			line, err := lines.ReadBytes('\n')
			if err == nil && !bytes.HasPrefix(line, []byte("data:")) {
				continue
			}
			select {
			case frames <- err:
			case <-ctx.Done():
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}
