package remote

import (
	"bytes"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/servertest"
)

// said is a log of which a text is awaited.
type said struct {
	text string
	once sync.Once
	come chan struct{}
}

func (s *said) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(s.text)) {
		s.once.Do(func() { close(s.come) })
	}
	return len(b), nil
}

// A primary that becomes a replica is noticed, also if it has no memory, and says so first.
func TestFullPrimaryBecomesReplica(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		primary, s := servertest.Start(t, servertest.Options{Binary: b}), servertest.Start(t, servertest.Options{Binary: b})
		log := &said{text: "not a primary any more", come: make(chan struct{})}
		o := openTuned(t, Options{}, func(tier *sharedTier) { tier.log.SetOutput(slog.New(slog.NewTextHandler(log, nil))) }, s.Addr)
		o.trusted(t)
		s.Do("CONFIG", "SET", "replica-ignore-maxmemory", "no")
		s.Do("CONFIG", "SET", "maxmemory", "1")
		host, port, _ := net.SplitHostPort(primary.Addr)
		s.Do("REPLICAOF", host, port)
		select {
		case <-log.come:
		case <-time.After(servertest.Patience):
			t.Fatal("it is not noticed")
		}
	})
}
