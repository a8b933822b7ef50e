package remote

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// redirection is a server's answer that a request is to be sent elsewhere, or once more.
type redirection struct {
	addr string // "" for once more
	slot int
	ask  bool // this once, and with ASKING: the slot is on its way there
}

// The bounds of being sent around.
const (
	maxRedirects  = 8
	againPause    = 5 * time.Millisecond // before it is asked once more; doubled each time
	maxAgainPause = 100 * time.Millisecond
)

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
	if err != nil || at < 0 || !(slotRange{slot, slot}).valid() {
		return redirection{}, false
	}
	port, err := strconv.ParseInt(words[2][at+1:], 10, 32)
	addr := addrOf(strings.Trim(words[2][:at], "[]"), port, hostOf(asked))
	return redirection{addr: addr, slot: slot, ask: words[0] == "ASK"}, err == nil && addr != ""
}

// askOwner asks the owner of a name, as the server has it. If the owner says that another server
// is to be asked, question is called again with a wire to that one, which gives no stamps until
// that server has said that the slot is its own. So question makes its commands each time, and
// takes the wire's stamp before.
func (t *Tier) askOwner(ctx context.Context, name string, question func(w *wire, slot int) error) error {
	w, slot, err := t.route(ctx, name)
	if err != nil {
		return err
	}
	if t.cluster == nil {
		return question(w, slot)
	}
	pause := againPause
	for range maxRedirects {
		err = question(w, slot)
		to, ok := redirectionOf(err, w.addr)
		if !ok {
			return err
		}
		if to.addr == "" {
			if !t.rest(ctx, pause) {
				return err
			}
			pause = min(2*pause, maxAgainPause)
			continue
		}
		if !to.ask {
			t.cluster.moved(w.real(), to.slot)
		}
		if w = t.cluster.at(to.addr); w == nil {
			return err
		}
		if to.ask {
			w = w.guided()
		}
	}
	return err
}

// rest waits. It reports false if the context ends first, or the tier is closed.
func (t *Tier) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-t.done:
	}
	return false
}

// guided is a wire for requests of a slot that is on its way to the server: it says so before
// each, and gives no stamps.
func (w *wire) guided() *wire { return &wire{t: w.t, addr: w.addr, via: w} }

// real is the wire itself.
func (w *wire) real() *wire {
	if w.via != nil {
		return w.via
	}
	return w
}

// doMultiGuided is doMulti by way of the wire itself.
func (w *wire) doMultiGuided(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	return answersOf(w.via.doMulti(ctx, withAsking(cmds)...))
}

func withAsking(cmds []rueidis.Completed) []rueidis.Completed {
	all := make([]rueidis.Completed, 0, 2*len(cmds))
	for _, cmd := range cmds {
		all = append(all, command("ASKING"), cmd)
	}
	return all
}

// answersOf are the answers without those to ASKING.
func answersOf(results []rueidis.RedisResult) []rueidis.RedisResult {
	for i := range len(results) / 2 {
		results[i] = results[2*i+1]
	}
	return results[:len(results)/2]
}
