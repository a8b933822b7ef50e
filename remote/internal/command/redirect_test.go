package command

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firncache/firn/remote/internal/servertest"
)

// The server makes the errors: what it is told to answer.
func TestRedirectionOf(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	answer := answers(t, s.Addr)
	for text, want := range map[string]string{
		"MOVED 3999 127.0.0.1:6381":    "{127.0.0.1:6381 3999 false} true",
		"ASK 3999 host.example:6381":   "{host.example:6381 3999 true} true",
		"MOVED 3999 :6381":             "{asked:6381 3999 false} true",
		"MOVED 3999 ?:6381":            "false",
		"MOVED 1 2001:db8::1:6381":     "{[2001:db8::1]:6381 1 false} true",
		"MOVED 1 [2001:db8::1]:6381":   "{[2001:db8::1]:6381 1 false} true",
		"TRYAGAIN Multiple keys":       "{ 0 false} true",
		"MOVED 16384 127.0.0.1:6381":   "false",
		"MOVED x 127.0.0.1:6381":       "false",
		"MOVED 1 127.0.0.1":            "false",
		"MOVED 1 127.0.0.1:x":          "false",
		"MOVED 1":                      "false",
		"XMOVED 1 127.0.0.1:6381":      "false",
		"CLUSTERDOWN Hash slot not":    "false",
		"MOVED 3999 127.0.0.1:6381 xy": "false",
	} {
		to, ok := RedirectionOf(fmt.Errorf("wrapped: %w", answer(text)), "asked:1")
		got := fmt.Sprint(ok)
		if ok {
			got = fmt.Sprint(to, ok)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, err := range []error{nil, errors.New("MOVED 3999 127.0.0.1:6381")} {
		if _, ok := RedirectionOf(err, ""); ok {
			t.Errorf("%v is a redirection", err)
		}
	}
}
