package command

import (
	"errors"
	"strconv"
	"strings"

	"github.com/firncache/firn/remote/internal/slots"
	"github.com/redis/rueidis"
)

// Redirection is a server's answer that a request is to be sent elsewhere, or once more.
type Redirection struct {
	Addr string // "" for once more
	Slot int
	Ask  bool // this once, and with ASKING: the slot is on its way there
}

// IsRedirect reports whether an error says that a request was not done, and is to be sent again.
func IsRedirect(err error) bool {
	_, ok := RedirectionOf(err, "")
	return ok
}

// RedirectionOf is what an error says. An address without a host is
// at the host of the server that has answered.
func RedirectionOf(err error, asked string) (Redirection, bool) {
	var e *rueidis.RedisError
	if err == nil || !errors.As(err, &e) {
		return Redirection{}, false
	}
	words := strings.Fields(e.Error())
	switch {
	case len(words) == 0:
		return Redirection{}, false
	case e.IsTryAgain():
		return Redirection{}, true
	case len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK":
		return Redirection{}, false
	}
	slot, err := strconv.Atoi(words[1])
	at := strings.LastIndexByte(words[2], ':')
	if err != nil || at < 0 || !(slots.Range{From: slot, To: slot}).Valid() {
		return Redirection{}, false
	}
	port, err := strconv.ParseInt(words[2][at+1:], 10, 32)
	addr := slots.AddrOf(strings.Trim(words[2][:at], "[]"), port, slots.HostOf(asked))
	return Redirection{Addr: addr, Slot: slot, Ask: words[0] == "ASK"}, err == nil && addr != ""
}
