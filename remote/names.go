package remote

import (
	"strings"

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
	besideKind = 'r'
)

// names makes the names of a namespace's keys.
type names struct {
	prefix string // of every key on the server: namespace and ':'
}

// probeName is the name under which there is nothing.
func (n names) probeName() string { return n.prefix + "p" }

// tokenName is the name of the token.
func (n names) tokenName() string { return n.prefix + "t" }

// entryName is the name of a key's entry on the server.
func (n names) entryName(key []byte) string {
	return n.name(entryKind, key)
}

// numberName is the name of an id's number.
func (n names) numberName(id shared.ID) string { return n.name(numberKind, id[:]) }

func (n names) name(kind byte, of []byte) string {
	b := make([]byte, 0, len(n.prefix)+1+len(of))
	b = append(b, n.prefix...)
	return string(append(append(b, kind), of...))
}

// cutName takes a name apart. It reports false for one of another namespace.
func (n names) cutName(name string) (kind byte, of string, ok bool) {
	rest, ok := strings.CutPrefix(name, n.prefix)
	if !ok || rest == "" {
		return 0, "", false
	}
	return rest[0], rest[1:], true
}

// globEscape is a pattern that matches s alone.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(s)
}

// besideName is the name of the lease beside a key's entry.
func (n names) besideName(key []byte) string { return n.name(besideKind, key) }
