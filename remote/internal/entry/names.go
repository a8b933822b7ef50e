package entry

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
	KindEntry  = 'k'
	KindNumber = 'n'
	KindBeside = 'r'
)

// Names makes the names of a namespace's keys.
type Names struct {
	Prefix string // of every key on the server: namespace and ':'
}

// Probe is the name under which there is nothing.
func (n Names) Probe() string { return n.Prefix + "p" }

// Token is the name of the token.
func (n Names) Token() string { return n.Prefix + "t" }

// Entry is the name of a key's entry on the server.
func (n Names) Entry(key []byte) string {
	return n.name(KindEntry, key)
}

// Number is the name of an id's number.
func (n Names) Number(id shared.ID) string { return n.name(KindNumber, id[:]) }

func (n Names) name(kind byte, of []byte) string {
	b := make([]byte, 0, len(n.Prefix)+1+len(of))
	b = append(b, n.Prefix...)
	return string(append(append(b, kind), of...))
}

// Cut takes a name apart. It reports false for one of another namespace.
func (n Names) Cut(name string) (kind byte, of string, ok bool) {
	rest, ok := strings.CutPrefix(name, n.Prefix)
	if !ok || rest == "" {
		return 0, "", false
	}
	return rest[0], rest[1:], true
}

// Beside is the name of the lease beside a key's entry.
func (n Names) Beside(key []byte) string { return n.name(KindBeside, key) }
