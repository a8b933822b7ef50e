package remote

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"unicode"

	"github.com/firncache/firn/internal/shared"
)

// Keys on the server:
//
//	<namespace>:k<key>    the entry of a key
//	<namespace>:n<id>     a number, under the 16 bytes of its id
//	<namespace>:t         a random token, by which other data than before is noticed
//	<namespace>:p         never anything: it is asked for to find out what the server does
//
// A key's own {hash tag} decides on its slot in a cluster.
const (
	entryKind  = 'k'
	numberKind = 'n'
)

// probeName is the name under which there is nothing.
func (t *Tier) probeName() string { return t.prefix + "p" }

// tokenName is the name of the token.
func (t *Tier) tokenName() string { return t.prefix + "t" }

// entryName is the name of a key's entry on the server.
func (t *Tier) entryName(key []byte) string {
	return t.name(entryKind, key)
}

// numberName is the name of an id's number.
func (t *Tier) numberName(id shared.ID) string { return t.name(numberKind, id[:]) }

func (t *Tier) name(kind byte, of []byte) string {
	b := make([]byte, 0, len(t.prefix)+1+len(of))
	b = append(b, t.prefix...)
	return string(append(append(b, kind), of...))
}

// cutName takes a name apart. It reports false for one of another namespace.
func (t *Tier) cutName(name string) (kind byte, of string, ok bool) {
	rest, ok := strings.CutPrefix(name, t.prefix)
	if !ok || rest == "" {
		return 0, "", false
	}
	return rest[0], rest[1:], true
}

// globEscape is a pattern that matches s alone.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(s)
}

// hostPort is an address with its port.
func hostPort(addr string) (string, error) {
	if strings.Contains(addr, "://") {
		return "", errors.New(`"host:port", no URL: user, password and TLS have options of their own`)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil && !strings.HasPrefix(addr, "[") && !strings.Contains(addr, ":") {
		host, port, err = addr, "6379", nil
	}
	if err != nil || host == "" || strings.IndexFunc(host, unicode.IsSpace) >= 0 {
		return "", errors.New(`"host:port", or "host" for port 6379`)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", errors.New(`"host:port" with a port from 1 to 65535`)
	}
	return net.JoinHostPort(host, port), nil
}

func hasForbidden(namespace string) bool {
	return strings.ContainsAny(namespace, ":{}") ||
		strings.IndexFunc(namespace, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0
}
