package command

import (
	"errors"
	"strings"

	"github.com/redis/rueidis"
)

// IsError reports whether a server has answered with an error that begins so, wrapped or not.
func IsError(err error, kind string) bool {
	var e *rueidis.RedisError
	return errors.As(err, &e) && strings.HasPrefix(e.Error(), kind)
}

// IsBusy reports whether a server's error says that it serves no one at present.
func IsBusy(err error) bool {
	e, ok := rueidis.IsRedisErr(err)
	return ok && (e.IsLoading() || e.IsClusterDown() || strings.HasPrefix(e.Error(), "BUSY ") || strings.HasPrefix(e.Error(), "MASTERDOWN "))
}

// IsState reports whether a server's error is of its present state, and of no right that is missing.
func IsState(err error) bool {
	for _, kind := range []string{"MOVED", "ASK", "OOM", "CLUSTERDOWN", "MISCONF", "NOREPLICAS"} {
		if IsError(err, kind) {
			return true
		}
	}
	return false
}
