package remote

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"sync"
	"time"

	"github.com/firncache/firn/internal/shared"
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
		if h, _ := parseHeader(all); h.version != version {
			return "", shared.ErrChanged
		}
		if len(b) < nextPiece {
			return rueidis.BinaryString(all), nil
		}
	}
}

// absent is ErrChanged if there is an entry.
func (w *wire) absent(ctx context.Context, name string) error {
	result := w.do(ctx, getRange(name, 0, envelopeLen))
	b, err := w.t.answer(&result)
	if isServerError(err, "WRONGTYPE") {
		return nil
	}
	if h, _ := parseHeader(b); err == nil && h.version != 0 {
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
	return rueidis.BinaryString(markerEnvelope(flag, v))
}

func leaseEnvelope(v shared.Version) string { return marker(flagLease, v) }

// script is a Lua script about one key.
type script struct {
	text string
	sha  func() string
}

func newScript(text string) *script {
	return &script{text: text, sha: sync.OnceValue(func() string {
		sum := sha1.Sum([]byte(text))
		return hex.EncodeToString(sum[:])
	})}
}

// replaceScript replaces what has the version ARGV[1] by the envelope ARGV[2], or removes it if that
// is empty, and returns 1; otherwise 0. ARGV[3] is how many milliseconds it is kept, or 0. The version
// of KEYS[1] is by the rule of parseHeader that of an envelope, and 0 for nothing, and for what no
// cache has written. What a script writes is announced to its own caller, too, who has asked for the
// opposite (NOLOOP): its copy is dropped, and read once more when it is wanted.
var replaceScript = newScript(`local h = redis.pcall('GETRANGE', KEYS[1], 0, 31)
local v = string.rep('\0', 8)
if type(h) == 'string' and #h == 32 and string.sub(h, 1, 3) == 'fr\1' then v = string.sub(h, 5, 12) end
if v ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('UNLINK', KEYS[1])
elseif ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`)

// run runs a script. The server has its text from the first call on, until it restarts or
// is told to forget it. An argument is not changed afterwards.
func (w *wire) run(ctx context.Context, s *script, name string, args ...string) rueidis.RedisResult {
	r := w.do(ctx, command(append([]string{"EVALSHA", s.sha(), "1", name}, args...)...))
	if e, ok := rueidis.IsRedisErr(r.Error()); ok && e.IsNoScript() {
		r = w.do(ctx, command(append([]string{"EVAL", s.text, "1", name}, args...)...))
	}
	return r
}
