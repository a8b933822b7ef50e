package remote

import (
	"context"
	"math/rand/v2"
	"strconv"

	"github.com/firncache/firn/internal/shared"
)

// Number is the number under an id, as decimal digits on the server. If there is none, or
// something else, it gets a random one.
func (t *Tier) Number(ctx context.Context, id shared.ID, renew bool) (number uint64, stamp shared.Stamp, err error) {
	name := t.numberName(id)
	err = t.askOwner(ctx, name, func(w *wire, slot int) error {
		stamp = w.stamp(slot)
		number, err = t.numberFrom(ctx, w, name, renew)
		return err
	})
	return number, stamp, err
}

func (t *Tier) numberFrom(ctx context.Context, w *wire, name string, renew bool) (uint64, error) {
	if renew {
		return t.setNumber(ctx, w, name)
	}
	t.count.reads.Add(1)
	fresh := itoa(newNumber())
	results := w.doMulti(ctx, command("SET", name, fresh, "NX"), getRange(name, 0, maxDigits+1))
	for i := range results {
		if err := results[i].Error(); isServerError(err, "WRONGTYPE") {
			return t.setNumber(ctx, w, name)
		}
	}
	text, err := results[1].ToString()
	if err != nil {
		return 0, w.serverError(err)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n != 0 {
		return n, nil
	}
	if text == "" { // it could not be set
		return 0, w.serverError(results[0].Error())
	}
	t.count.foreign.Add(1)
	return t.setNumber(ctx, w, name)
}

const maxDigits = 20

// setNumber gives an id another number.
func (t *Tier) setNumber(ctx context.Context, w *wire, name string) (uint64, error) {
	t.count.writes.Add(1)
	n := newNumber()
	return n, w.serverError(w.do(ctx, command("SET", name, itoa(n))).Error())
}

func newNumber() uint64 { return 1 + rand.Uint64N(1<<64-1) }

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }
