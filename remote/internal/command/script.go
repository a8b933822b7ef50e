package command

import (
	"crypto/sha1"
	"encoding/hex"
	"sync"

	"github.com/redis/rueidis"
)

// Script is a Lua script about one key. Its arguments are not changed afterwards.
type Script struct {
	text string
	sha  func() string
}

func newScript(text string) *Script {
	return &Script{text: text, sha: sync.OnceValue(func() string {
		sum := sha1.Sum([]byte(text))
		return hex.EncodeToString(sum[:])
	})}
}

// Known runs the script on a server that has its text.
func (s *Script) Known(name string, args ...string) rueidis.Completed {
	return New(append([]string{"EVALSHA", s.sha(), "1", name}, args...)...)
}

// Whole runs the script, and has the server keep its text until it restarts or forgets it by SCRIPT FLUSH.
func (s *Script) Whole(name string, args ...string) rueidis.Completed {
	return New(append([]string{"EVAL", s.text, "1", name}, args...)...)
}

// Replace replaces what has the version ARGV[1] by the envelope ARGV[2], or removes it if that
// is empty, and returns 1; otherwise 0. ARGV[3] is how many milliseconds it is kept, or 0. The version
// of KEYS[1] is by the rule of entry.Parse that of an envelope, and 0 for nothing, and for what no
// cache has written. What a script writes is announced to its own caller, too, in spite
// of NOLOOP: its copy is dropped, and read once more when it is wanted.
var Replace = newScript(`local h = redis.pcall('GETRANGE', KEYS[1], 0, 31)
local v = string.rep('\0', 8)
if type(h) == 'string' and #h == 32 and string.sub(h, 1, 3) == 'fr\1' then v = string.sub(h, 5, 12) end
if v ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('UNLINK', KEYS[1])
elseif ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`)
