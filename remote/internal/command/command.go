package command

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// builder makes commands. The transport gives one with a client only, and a client without a
// connection will do.
var builder = func() rueidis.Builder {
	refuse := func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
		return nil, errors.ErrUnsupported
	}
	c, _ := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"none"}, ForceSingleClient: true, PipelineMultiplex: -1, DisableRetry: true, DialCtxFn: refuse,
	})
	return c.B()
}()

// New is a command with its arguments. It can be sent once.
func New(args ...string) rueidis.Completed { return builder.Arbitrary(args...).Build() }

// GetRange reads n bytes of a key.
func GetRange(name string, from, n int) rueidis.Completed {
	return New("GETRANGE", name, strconv.Itoa(from), strconv.Itoa(from+n-1))
}

// Set is SET with a life, 0 for ever, and a condition. The value is not changed afterwards.
func Set(name, value string, px time.Duration, condition ...string) rueidis.Completed {
	args := append([]string{"SET", name, value}, condition...)
	if px > 0 {
		args = append(args, "PX", Millis(max(px, time.Millisecond)))
	}
	return New(args...)
}

// SetIfEqual is Set if there is old; without a value it ends in 1970, and so from the beginning.
func SetIfEqual(name, old, value string, px time.Duration) rueidis.Completed {
	if value == "" {
		return New("SET", name, "", "IFEQ", old, "PXAT", "1")
	}
	return Set(name, value, px, "IFEQ", old)
}

// Millis is a time in whole milliseconds.
func Millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Size is the length of a command's arguments in bytes.
func Size(cmd rueidis.Completed) (n int) {
	for _, arg := range cmd.Commands() {
		n += len(arg)
	}
	return n
}

// Written is the name that a command writes, which the server does not announce to its writer; "" for
// none. What scripts write is announced.
func Written(cmd rueidis.Completed) string {
	if args := cmd.Commands(); args[0] == "SET" || args[0] == "UNLINK" { // they are reused once it has been sent
		return args[1]
	}
	return ""
}

// AllNames is a pattern for SCAN that matches the names that begin with prefix.
func AllNames(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(prefix) + "*"
}

// InfoField is a line "name:value" of INFO.
func InfoField(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
