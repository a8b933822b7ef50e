package remote

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// setIf writes an envelope, which is the command's own from here on, if there is what is
// expected, and ErrChanged otherwise. No entry is also what no cache has written. px is how long
// the server keeps it; 0: for ever.
func (t *sharedTier) setIf(ctx context.Context, w *wire.Wire, name string, expect shared.Expect, envelope []byte, px time.Duration) error {
	value := rueidis.BinaryString(envelope)
	switch {
	case expect.Any:
		return wrote(w, w.Do(ctx, command.Set(name, value, px)))
	case expect.Version == 0:
		err := wrote(w, w.Do(ctx, command.Set(name, value, px, "NX")))
		if err != shared.ErrChanged {
			return err
		}
	}
	return t.replace(ctx, w, name, expect, value, px)
}

// delIf removes what is expected, likewise. An entry that is expected not to be there is not.
func (t *sharedTier) delIf(ctx context.Context, w *wire.Wire, name string, expect shared.Expect) error {
	switch {
	case expect.Any:
		return t.remove(ctx, w, name)
	case expect.Version == 0:
		return t.absent(ctx, w, name)
	}
	return t.replace(ctx, w, name, expect, "", 0)
}

// replace replaces what has a version by an envelope, or removes it if that is empty. The server
// compares and writes in one step: all that lies there with SET IFEQ, the version in a script.
func (t *sharedTier) replace(ctx context.Context, w *wire.Wire, name string, expect shared.Expect, value string, px time.Duration) error {
	can := w.Can(ctx)
	if can.IfEq {
		there, err := t.expected(ctx, w, name, expect)
		if err == nil {
			return wrote(w, w.Do(ctx, command.SetIfEqual(name, there, value, px)))
		}
		if !can.Eval || !command.IsError(err, "WRONGTYPE") { // which no cache has written, and SET cannot compare
			return err
		}
	}
	if !can.Eval {
		return errUnconditional(w.Addr)
	}
	n, err := w.Run(ctx, command.Replace, name, versionBytes(expect.Version), value, command.Millis(px)).AsInt64()
	if err == nil && n == 0 {
		return shared.ErrChanged
	}
	return w.ServerError(err)
}

// expected is all that lies under a name, if that is what is expected: a lease of our own is known.
func (t *sharedTier) expected(ctx context.Context, w *wire.Wire, name string, expect shared.Expect) (string, error) {
	if expect.Leased == expect.Version && expect.Version != 0 {
		return leaseEnvelope(expect.Version), nil
	}
	return t.whole(ctx, w, name, expect.Version)
}

// whole is all that lies under a name, if that has a version; 0: of what no cache has written. It is
// read in pieces, as any value is. Pieces of two versions are not what the server compares them with.
func (t *sharedTier) whole(ctx context.Context, w *wire.Wire, name string, version shared.Version) (string, error) {
	var all []byte
	for {
		t.count.reads.Add(1)
		result := w.Do(ctx, command.GetRange(name, len(all), nextPiece))
		b, err := t.answer(&result)
		if err != nil {
			return "", w.ServerError(err)
		}
		all = append(all, b...)
		if h, _ := entry.Parse(all); h.Version != version {
			return "", shared.ErrChanged
		}
		if len(b) < nextPiece {
			return rueidis.BinaryString(all), nil
		}
	}
}

// absent is ErrChanged if there is an entry.
func (t *sharedTier) absent(ctx context.Context, w *wire.Wire, name string) error {
	result := w.Do(ctx, command.GetRange(name, 0, entry.Len))
	b, err := t.answer(&result)
	if command.IsError(err, "WRONGTYPE") {
		return nil
	}
	if h, _ := entry.Parse(b); err == nil && h.Version != 0 {
		return shared.ErrChanged
	}
	return w.ServerError(err)
}

// wrote is the outcome of a SET: nil is the answer if the condition was not met.
func wrote(w *wire.Wire, r rueidis.RedisResult) error {
	err := r.Error()
	if rueidis.IsRedisNil(err) {
		return shared.ErrChanged
	}
	return w.ServerError(err)
}

func versionBytes(v shared.Version) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

func marker(flag byte, v shared.Version) string {
	return rueidis.BinaryString(entry.Marker(flag, v))
}

func leaseEnvelope(v shared.Version) string { return marker(entry.FlagLease, v) }

// errUnconditional is the error of a write that a server cannot make.
func errUnconditional(addr string) error {
	return fmt.Errorf("%w: %s: it has neither scripts nor SET IFEQ: want EVAL and EVALSHA for the user, or Redis 8.4, or Valkey 8.1",
		shared.ErrUnavailable, addr)
}
