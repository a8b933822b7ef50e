package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// A number is the version of an envelope, whose value is the former numbers: 16 bytes each, the
// number and since when it is one, in milliseconds of Unix time. The server keeps it for numberLife,
// and longer while a process uses it; one that was lost is another one then, so that what bears the
// number from before is worthless.
const (
	numberLife = 28 * 24 * time.Hour
	numberWorn = 24 * time.Hour // after which its life is renewed, as the server announces that to all

	formerLen = 16
	numberLen = entry.Len + formerLen*shared.MaxFormer // at most
)

// Number is the number under an id. If there is none, or something else, it gets a random one.
func (t *sharedTier) Number(ctx context.Context, id shared.ID, renew bool) (n shared.NumberState, stamp shared.Stamp, err error) {
	return t.numberOf(ctx, id, func(w *wire.Wire, name string) (shared.NumberState, error) {
		if renew {
			return t.setNumber(ctx, w, name)
		}
		return t.readNumber(ctx, w, name)
	})
}

// ExpireNumber replaces the number by comparing. A number that changes meanwhile has gone after the
// call began: values that note it are stale or obsolete then.
func (t *sharedTier) ExpireNumber(ctx context.Context, id shared.ID, now int64) (n shared.NumberState, stamp shared.Stamp, err error) {
	return t.numberOf(ctx, id, func(w *wire.Wire, name string) (shared.NumberState, error) {
		old, err := t.readNumber(ctx, w, name)
		if err != nil {
			return old, err
		}
		t.count.writes.Add(1)
		n := old.Expired(uint64(entry.NewVersion()), now)
		err = t.replace(ctx, w, name, shared.Expect{Version: shared.Version(old.Value)}, t.numberEnvelope(n), numberLife)
		if errors.Is(err, shared.ErrChanged) {
			return t.readNumber(ctx, w, name)
		}
		return n, err
	})
}

// numberOf calls f with the wire to the server of an id's number.
func (t *sharedTier) numberOf(ctx context.Context, id shared.ID, f func(w *wire.Wire, name string) (shared.NumberState, error)) (n shared.NumberState, stamp shared.Stamp, err error) {
	name := t.names.Number(id)
	err = t.cluster.Ask(ctx, name, func(w *wire.Wire, slot int) error {
		stamp = t.cluster.Stamp(w, slot)
		n, err = f(w, name)
		return err
	})
	return n, stamp, err
}

func (t *sharedTier) readNumber(ctx context.Context, w *wire.Wire, name string) (shared.NumberState, error) {
	t.count.reads.Add(1)
	results := w.DoMulti(ctx, command.Set(name, marker(0, entry.NewVersion()), numberLife, "NX"), command.GetRange(name, 0, numberLen))
	b, err := t.answer(&results[1])
	if err != nil && !command.IsError(err, "WRONGTYPE") {
		return shared.NumberState{}, w.ServerError(err)
	}
	if h, _ := entry.Parse(b); h.Version != 0 {
		return t.parseNumber(h, b), nil
	}
	if err == nil && len(b) == 0 { // it could not be set
		return shared.NumberState{}, w.ServerError(results[0].Error())
	}
	t.count.foreign.Add(1)
	return t.setNumber(ctx, w, name)
}

// setNumber gives an id another number.
func (t *sharedTier) setNumber(ctx context.Context, w *wire.Wire, name string) (shared.NumberState, error) {
	t.count.writes.Add(1)
	n := entry.NewVersion()
	return shared.NumberState{Value: uint64(n)}, w.ServerError(w.Do(ctx, command.Set(name, marker(0, n), numberLife)).Error())
}

// numberEnvelope is a number as it lies on the server.
func (t *sharedTier) numberEnvelope(n shared.NumberState) string {
	former := make([]byte, 0, formerLen*shared.MaxFormer)
	for _, f := range n.Former {
		former = binary.LittleEndian.AppendUint64(former, f.Value)
		former = binary.LittleEndian.AppendUint64(former, uint64(f.Since+t.unixOffset.Load()))
	}
	return rueidis.BinaryString(entry.Append(nil, entry.Header{Version: shared.Version(n.Value)}, former))
}

// parseNumber is the number of an envelope with this header. One that is not whole has no former
// ones.
func (t *sharedTier) parseNumber(h entry.Header, envelope []byte) shared.NumberState {
	n := shared.NumberState{Value: uint64(h.Version)}
	_, former, _ := entry.Open(envelope)
	for ; len(former) >= formerLen && len(n.Former) < shared.MaxFormer; former = former[formerLen:] {
		since := int64(binary.LittleEndian.Uint64(former[8:])) - t.unixOffset.Load()
		n.Former = append(n.Former, shared.FormerNumber{Value: binary.LittleEndian.Uint64(former), Since: max(since, 1)})
	}
	return n
}

// touchNumbers reads numbers on the server, which is announced to no process, and renews the life of
// those that are worn.
func (t *sharedTier) touchNumbers(ids []shared.ID) {
	name := func(i int) string { return t.names.Number(ids[i]) }
	t.byWire(t.common.Dialing, len(ids), name, func(int, error) {}, func(w *wire.Wire, group []item) {
		for part := range slices.Chunk(group, wire.MaxBatch/2) {
			var cmds []rueidis.Completed
			for _, it := range part {
				cmds = append(cmds, command.GetRange(name(it.i), 0, numberLen), command.New("PTTL", name(it.i)))
			}
			results := w.DoMulti(t.common.Dialing, cmds...)
			for j, it := range part {
				b, _ := t.answer(&results[2*j])
				h, _ := entry.Parse(b)
				left, err := results[2*j+1].AsInt64()
				if err == nil && h.Version != 0 && left < (numberLife-numberWorn).Milliseconds() {
					_ = t.replace(t.common.Dialing, w, name(it.i), shared.Expect{Version: h.Version}, string(b), numberLife)
				}
			}
		}
	})
}
