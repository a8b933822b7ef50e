package remote

import (
	"context"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/redis/rueidis"
)

// setIf writes an envelope, which is the command's own from here on, if there is what is
// expected, and ErrChanged otherwise. No entry is also what no cache has written. px is how long
// the server keeps it; 0: for ever.
func (w *wire) setIf(ctx context.Context, name string, expect shared.Expect, envelope []byte, px time.Duration) error {
	value := rueidis.BinaryString(envelope)
	switch {
	case expect.Any:
		return w.wrote(w.do(ctx, setCommand(name, value, px)))
	case expect.Version == 0:
		err := w.wrote(w.do(ctx, setCommand(name, value, px, "NX")))
		if err != shared.ErrChanged {
			return err
		}
	}
	return w.replace(ctx, name, expect, value, px)
}

// delIf removes what is expected, likewise. An entry that is expected not to be there is not.
func (w *wire) delIf(ctx context.Context, name string, expect shared.Expect) error {
	switch {
	case expect.Any:
		return w.serverError(w.do(ctx, command("UNLINK", name)).Error())
	case expect.Version == 0:
		return w.absent(ctx, name)
	}
	return w.replace(ctx, name, expect, "", 0)
}

// replace replaces what has a version by an envelope, or removes it if that is empty. The server
// compares and writes in one step: all that lies there with SET IFEQ, the version in a script.
func (w *wire) replace(ctx context.Context, name string, expect shared.Expect, value string, px time.Duration) error {
	can := w.can(ctx)
	if can.ifeq {
		there, err := w.expected(ctx, name, expect)
		if err == nil {
			return w.wrote(w.do(ctx, ifeqCommand(name, there, value, px)))
		}
		if !can.eval || !isServerError(err, "WRONGTYPE") { // which no cache has written, and SET cannot compare
			return err
		}
	}
	if !can.eval {
		return w.errUnconditional()
	}
	n, err := w.run(ctx, replaceScript, name, versionBytes(expect.Version), value, strconv.FormatInt(px.Milliseconds(), 10)).AsInt64()
	if err == nil && n == 0 {
		return shared.ErrChanged
	}
	return w.serverError(err)
}

// ifeqCommand is setCommand if there is old; without a value it ends in 1970, and so from the beginning.
func ifeqCommand(name, old, value string, px time.Duration) rueidis.Completed {
	if value == "" {
		return command("SET", name, "", "IFEQ", old, "PXAT", "1")
	}
	return setCommand(name, value, px, "IFEQ", old)
}

// expected is all that lies under a name, if that is what is expected: a lease of our own is known.
func (w *wire) expected(ctx context.Context, name string, expect shared.Expect) (string, error) {
	if expect.Leased == expect.Version && expect.Version != 0 {
		return leaseEnvelope(expect.Version), nil
	}
	return w.whole(ctx, name, expect.Version)
}

// whole is all that lies under a name, if that has a version; 0: of what no cache has written. It is
// read in pieces, as any value is. Pieces of two versions are not what the server compares them with.
func (w *wire) whole(ctx context.Context, name string, version shared.Version) (string, error) {
	var all []byte
	for {
		w.t.count.reads.Add(1)
		result := w.do(ctx, getRange(name, len(all), nextPiece))
		b, err := w.t.answer(&result)
		if err != nil {
			return "", w.serverError(err)
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
func (w *wire) absent(ctx context.Context, name string) error {
	result := w.do(ctx, getRange(name, 0, entry.Len))
	b, err := w.t.answer(&result)
	if isServerError(err, "WRONGTYPE") {
		return nil
	}
	if h, _ := entry.Parse(b); err == nil && h.Version != 0 {
		return shared.ErrChanged
	}
	return w.serverError(err)
}

// setCommand is SET, with a life and a condition.
func setCommand(name, value string, px time.Duration, condition ...string) rueidis.Completed {
	args := append([]string{"SET", name, value}, condition...)
	if px > 0 {
		args = append(args, "PX", millis(px))
	}
	return command(args...)
}

// wrote is the outcome of a SET: nil is the answer if the condition was not met.
func (w *wire) wrote(r rueidis.RedisResult) error {
	err := r.Error()
	if rueidis.IsRedisNil(err) {
		return shared.ErrChanged
	}
	return w.serverError(err)
}

func versionBytes(v shared.Version) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

func marker(flag byte, v shared.Version) string {
	return rueidis.BinaryString(entry.Marker(flag, v))
}

func leaseEnvelope(v shared.Version) string { return marker(entry.FlagLease, v) }

// run runs a script. The server has its text from the first call on, until it restarts or
// is told to forget it. An argument is not changed afterwards.
func (w *wire) run(ctx context.Context, s *script, name string, args ...string) rueidis.RedisResult {
	r := w.do(ctx, command(append([]string{"EVALSHA", s.sha(), "1", name}, args...)...))
	if e, ok := rueidis.IsRedisErr(r.Error()); ok && e.IsNoScript() {
		r = w.do(ctx, command(append([]string{"EVAL", s.text, "1", name}, args...)...))
	}
	return r
}

// can is what the wire's server can do, if need be after the attempt to connect that is under
// way. If there is none, the request that asks fails anyway.
func (w *wire) can(ctx context.Context) abilities {
	w = w.real()
	if c := w.state.Load().conn; c != nil {
		return c.server.can
	}
	within, cancel := context.WithTimeout(ctx, w.t.o.Timeout)
	defer cancel()
	c, err := w.present(within)
	if err != nil {
		return abilities{eval: true}
	}
	return c.server.can
}

// leases reports whether there is one load for all processes.
func (w *wire) leases(ctx context.Context) bool {
	return w.t.o.Leases != LeasesOff && w.can(ctx).conditional()
}
