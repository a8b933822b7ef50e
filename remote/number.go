package remote

import (
	"context"
	"slices"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/redis/rueidis"
)

// A number is the version of an envelope without a value. The server keeps it for numberLife, and
// longer while a process uses it; one that was lost is another one then, so that what bears the
// number from before is worthless.
const (
	numberLife = 28 * 24 * time.Hour
	numberWorn = 24 * time.Hour // after which its life is renewed, as the server announces that to all
)

// Number is the number under an id. If there is none, or something else, it gets a random one.
func (t *sharedTier) Number(ctx context.Context, id shared.ID, renew bool) (number uint64, stamp shared.Stamp, err error) {
	name := t.names.Number(id)
	err = t.askOwner(ctx, name, func(w *wire, slot int) error {
		stamp = w.stamp(slot)
		number, err = t.numberFrom(ctx, w, name, renew)
		return err
	})
	return number, stamp, err
}

func (t *sharedTier) numberFrom(ctx context.Context, w *wire, name string, renew bool) (uint64, error) {
	if renew {
		return t.setNumber(ctx, w, name)
	}
	t.count.reads.Add(1)
	results := w.doMulti(ctx, setCommand(name, marker(0, entry.NewVersion()), numberLife, "NX"), getRange(name, 0, entry.Len))
	b, err := t.answer(&results[1])
	if err != nil && !isServerError(err, "WRONGTYPE") {
		return 0, w.serverError(err)
	}
	if h, _ := entry.Parse(b); h.Version != 0 {
		return uint64(h.Version), nil
	}
	if err == nil && len(b) == 0 { // it could not be set
		return 0, w.serverError(results[0].Error())
	}
	t.count.foreign.Add(1)
	return t.setNumber(ctx, w, name)
}

// setNumber gives an id another number.
func (t *sharedTier) setNumber(ctx context.Context, w *wire, name string) (uint64, error) {
	t.count.writes.Add(1)
	n := entry.NewVersion()
	return uint64(n), w.serverError(w.do(ctx, setCommand(name, marker(0, n), numberLife)).Error())
}

// touchNumbers reads numbers on the server, which is announced to no process, and renews the life of
// those that are worn.
func (t *sharedTier) touchNumbers(ids []shared.ID) {
	name := func(i int) string { return t.names.Number(ids[i]) }
	t.byWire(t.dialing, len(ids), name, func(int, error) {}, func(w *wire, group []item) {
		for part := range slices.Chunk(group, maxBatch/2) {
			var cmds []rueidis.Completed
			for _, it := range part {
				cmds = append(cmds, getRange(name(it.i), 0, entry.Len), command("PTTL", name(it.i)))
			}
			results := w.doMulti(t.dialing, cmds...)
			for j, it := range part {
				b, _ := t.answer(&results[2*j])
				h, _ := entry.Parse(b)
				left, err := results[2*j+1].AsInt64()
				if err == nil && h.Version != 0 && left < (numberLife-numberWorn).Milliseconds() {
					_ = w.replace(t.dialing, name(it.i), shared.Expect{Version: h.Version}, marker(0, h.Version), numberLife)
				}
			}
		}
	})
}
