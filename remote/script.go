package remote

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"sync"

	"github.com/redis/rueidis"
)

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

// versionOf is the version of KEYS[1] by the same rule as parseHeader: that of an envelope,
// and 0 for nothing, and for what no cache has written.
const versionOf = `local h = redis.pcall('GETRANGE', KEYS[1], 0, 31)
local v = string.rep('\0', 8)
if type(h) == 'string' and #h == 32 and string.sub(h, 1, 3) == 'fr\1' then v = string.sub(h, 5, 12) end
if v ~= ARGV[1] then return 0 end
`

// The scripts write if the version is ARGV[1], and return 1; otherwise 0. Whatever a script
// writes is announced to its own caller, too, who has asked for the opposite (NOLOOP): his copy
// is dropped, and read once more when it is wanted.
var (
	// ARGV[2] is the envelope, ARGV[3] how many milliseconds it is kept, or 0.
	setScript = newScript(versionOf + `if ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`)
	// ARGV[2] is for how many milliseconds the key lives on.
	extendScript = newScript(versionOf + `redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`)
	delScript = newScript(versionOf + `redis.call('UNLINK', KEYS[1])
return 1`)
)

// run runs a script. The server has its text from the first call on, until it restarts or
// is told to forget it. An argument is not changed afterwards.
func (w *wire) run(ctx context.Context, s *script, name string, args ...string) rueidis.RedisResult {
	r := w.do(ctx, command(append([]string{"EVALSHA", s.sha(), "1", name}, args...)...))
	if e, ok := rueidis.IsRedisErr(r.Error()); ok && e.IsNoScript() {
		r = w.do(ctx, command(append([]string{"EVAL", s.text, "1", name}, args...)...))
	}
	return r
}
