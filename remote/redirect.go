package remote

import (
	"errors"
	"strconv"
	"strings"

	"github.com/firncache/firn/remote/internal/slots"
	"github.com/redis/rueidis"
)

// redirection is a server's answer that a request is to be sent elsewhere, or once more.
type redirection struct {
	addr string // "" for once more
	slot int
	ask  bool // this once, and with ASKING: the slot is on its way there
}

// isRedirect reports whether an error says that a request was not done, and is to be sent again.
func isRedirect(err error) bool {
	_, ok := redirectionOf(err, "")
	return ok
}

// redirectionOf is what an error says. A server that does not tell a host means that which was
// asked.
func redirectionOf(err error, asked string) (redirection, bool) {
	var e *rueidis.RedisError
	if err == nil || !errors.As(err, &e) {
		return redirection{}, false
	}
	words := strings.Fields(e.Error())
	switch {
	case len(words) == 0:
		return redirection{}, false
	case e.IsTryAgain():
		return redirection{}, true
	case len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK":
		return redirection{}, false
	}
	slot, err := strconv.Atoi(words[1])
	at := strings.LastIndexByte(words[2], ':')
	if err != nil || at < 0 || !(slots.Range{From: slot, To: slot}).Valid() {
		return redirection{}, false
	}
	port, err := strconv.ParseInt(words[2][at+1:], 10, 32)
	addr := slots.AddrOf(strings.Trim(words[2][:at], "[]"), port, slots.HostOf(asked))
	return redirection{addr: addr, slot: slot, ask: words[0] == "ASK"}, err == nil && addr != ""
}
