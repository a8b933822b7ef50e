package remote

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// setIf writes an envelope, which is the command's own from here on, if there is what is
// expected, and ErrChanged otherwise. No entry is also what no cache has written. px is how long
// the server keeps it; 0: for ever.
//
//	expected           how
//	anything           SET
//	nothing            SET NX; if there is something, a script finds out whether that is an entry
//	our own lease      SET IFEQ: it is known whole, and nothing is announced to ourselves
//	another version    a script, which compares it where it lies
//	  without scripts  GETRANGE, and SET IFEQ of what that has found, as long as it may be
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
	case expect.Leased == expect.Version && w.can(ctx).ifeq:
		return w.wrote(w.do(ctx, setCommand(name, value, px, "IFEQ", leaseEnvelope(expect.Version))))
	}
	return w.compareAndSet(ctx, name, expect.Version, value, px)
}

func (w *wire) compareAndSet(ctx context.Context, name string, old shared.Version, value string, px time.Duration) error {
	switch can := w.can(ctx); {
	case can.eval:
		return w.changed(w.run(ctx, setScript, name, versionBytes(old), value, scriptLife(px)))
	case can.ifeq:
		there, err := w.whole(ctx, name, old)
		if err != nil {
			return err
		}
		return w.wrote(w.do(ctx, setCommand(name, value, px, "IFEQ", there)))
	}
	return w.errUnconditional()
}

// delIf removes what is expected, likewise. An entry that is expected not to be there is not.
func (w *wire) delIf(ctx context.Context, name string, expect shared.Expect) error {
	switch {
	case expect.Any:
		return w.serverError(w.do(ctx, command("UNLINK", name)).Error())
	case expect.Version == 0:
		return w.absent(ctx, name)
	}
	can := w.can(ctx)
	if expect.Leased == expect.Version && can.comparesToDelete() {
		return w.changed(w.do(ctx, can.deleteCommand(name, leaseEnvelope(expect.Version))))
	}
	return w.compareAndDelete(ctx, can, name, expect.Version)
}

func (w *wire) compareAndDelete(ctx context.Context, can abilities, name string, old shared.Version) error {
	if can.eval {
		return w.changed(w.run(ctx, delScript, name, versionBytes(old)))
	}
	if !can.ifeq {
		return w.errUnconditional()
	}
	there, err := w.whole(ctx, name, old)
	switch {
	case err != nil:
		return err
	case can.comparesToDelete():
		return w.changed(w.do(ctx, can.deleteCommand(name, there)))
	}
	const past = "1" // in 1970: it is not there from the beginning
	return w.wrote(w.do(ctx, command("SET", name, "", "IFEQ", there, "PXAT", past)))
}

func (a abilities) comparesToDelete() bool { return a.delex || a.delifeq }

// deleteCommand deletes a key that is old.
func (a abilities) deleteCommand(name, old string) rueidis.Completed {
	if a.delex {
		return command("DELEX", name, "IFEQ", old)
	}
	return command("DELIFEQ", name, old)
}

// whole is all that lies under a name, if that has a version; 0: of what no cache has written.
func (w *wire) whole(ctx context.Context, name string, version shared.Version) (string, error) {
	result := w.do(ctx, command("GETRANGE", name, "0", "-1"))
	b, err := w.t.answer(&result)
	if err != nil {
		return "", w.serverError(err)
	}
	if h, _ := parseHeader(b); h.version != version {
		return "", shared.ErrChanged
	}
	return rueidis.BinaryString(b), nil
}

// absent is ErrChanged if there is an entry.
func (w *wire) absent(ctx context.Context, name string) error {
	v, err := w.versionAt(ctx, name)
	if err == nil && v != 0 {
		return shared.ErrChanged
	}
	return err
}

// versionAt is the version of what lies under a name; 0 for what no cache has written.
func (w *wire) versionAt(ctx context.Context, name string) (shared.Version, error) {
	result := w.do(ctx, getRange(name, 0, envelopeLen))
	b, err := w.t.answer(&result)
	if isServerError(err, "WRONGTYPE") {
		return 0, nil
	}
	h, _ := parseHeader(b)
	return h.version, w.serverError(err)
}

// setCommand is SET, with a life and a condition.
func setCommand(name, value string, px time.Duration, condition ...string) rueidis.Completed {
	args := append([]string{"SET", name, value}, condition...)
	if px > 0 {
		args = append(args, "PX", millis(px))
	}
	return command(args...)
}

// scriptLife is px for a script.
func scriptLife(px time.Duration) string {
	if px > 0 {
		return millis(px)
	}
	return "0"
}

// wrote is the outcome of a SET: nil is the answer if the condition was not met.
func (w *wire) wrote(r rueidis.RedisResult) error {
	err := r.Error()
	if rueidis.IsRedisNil(err) {
		return shared.ErrChanged
	}
	return w.serverError(err)
}

// changed is the outcome of what answers how many keys it has changed.
func (w *wire) changed(r rueidis.RedisResult) error {
	n, err := r.AsInt64()
	if err == nil && n == 0 {
		return shared.ErrChanged
	}
	return w.serverError(err)
}

func versionBytes(v shared.Version) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

func marker(flag byte, v shared.Version) string {
	return rueidis.BinaryString(markerEnvelope(flag, v))
}

func leaseEnvelope(v shared.Version) string { return marker(flagLease, v) }
