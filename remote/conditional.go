package remote

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// The scripts compare the version in an envelope's bytes 5 to 12.
const (
	setScript = `if redis.call('GETRANGE',KEYS[1],4,11)~=ARGV[1] then return 0 end
if ARGV[3]=='0' then redis.call('SET',KEYS[1],ARGV[2]) else redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) end return 1`
	delScript = `if redis.call('GETRANGE',KEYS[1],4,11)~=ARGV[1] then return 0 end return redis.call('UNLINK',KEYS[1])`
)

// setIf writes an envelope if the entry is the expected one.
func (w *wire) setIf(ctx context.Context, name string, expect shared.Expect, envelope []byte, px time.Duration) error {
	if expect.Version == 0 {
		args := []string{"SET", name, rueidis.BinaryString(envelope), "NX"}
		if px > 0 {
			args = append(args, "PX", millis(px))
		}
		err := w.do(ctx, command(args...)).Error()
		if rueidis.IsRedisNil(err) {
			return shared.ErrChanged
		}
		return w.serverError(err)
	}
	life := "0"
	if px > 0 {
		life = millis(px)
	}
	return w.changed(w.do(ctx, command("EVAL", setScript, "1", name, versionBytes(expect.Version), rueidis.BinaryString(envelope), life)))
}

// delIf removes an entry that is the expected one.
func (w *wire) delIf(ctx context.Context, name string, expect shared.Expect) error {
	return w.changed(w.do(ctx, command("EVAL", delScript, "1", name, versionBytes(expect.Version))))
}

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
