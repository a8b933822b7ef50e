package slots

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Map is a cluster as one of its servers knows it.
type Map struct {
	Primaries []Member // those that own slots, each once
	Self      string   // the server's own id
	Epoch     uint64   // its configuration epoch: of two that claim a slot the owner's is higher
	OK        bool     // it takes requests for keys
}

// Member is a primary.
type Member struct {
	ID    string
	Addr  string // "" if the server does not say it
	Slots []Range
}

var errMap = errors.New("the answer is not as documented")

// AddrOf is an address, at host if the endpoint has none; "" for one that is not known.
func AddrOf(endpoint any, port int64, host string) string {
	name, _ := endpoint.(string)
	if name == "" {
		name = host
	}
	if name == "?" || port < 1 || port > 65535 {
		return ""
	}
	return net.JoinHostPort(name, strconv.FormatInt(port, 10))
}

func parseRange(from, to any) (Range, bool) {
	a, okFrom := from.(int64)
	b, okTo := to.(int64)
	r := Range{int(a), int(b)}
	return r, okFrom && okTo && r.Valid()
}

// Parse is the answer to CLUSTER SLOTS: an array of arrays, of the first slot, the last,
// the primary and its replicas, each with address, port and id. Servers without an address are at
// the host of the connection. CLUSTER SHARDS, which is newer, is not used: servers whose
// configuration is from before 7.2 leave themselves out there.
func Parse(answer any, host string) ([]Member, error) {
	ranges, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("CLUSTER SLOTS: %w: %T", errMap, answer)
	}
	var found []Member
	at := map[string]int{}
	for _, a := range ranges {
		r, node, ok := parseSlotsRange(a)
		if !ok {
			return nil, fmt.Errorf("CLUSTER SLOTS: %w: a range", errMap)
		}
		id, _ := node[2].(string)
		port, _ := node[1].(int64)
		i, known := at[id]
		if !known {
			i = len(found)
			at[id] = i
			found = append(found, Member{ID: id, Addr: AddrOf(node[0], port, host)})
		}
		found[i].Slots = append(found[i].Slots, r)
	}
	return found, nil
}

func parseSlotsRange(a any) (r Range, node []any, ok bool) {
	parts, _ := a.([]any)
	if len(parts) < 3 {
		return r, nil, false
	}
	r, ok = parseRange(parts[0], parts[1])
	node, _ = parts[2].([]any)
	if !ok || len(node) < 3 {
		return r, nil, false
	}
	id, _ := node[2].(string)
	return r, node, id != ""
}

// HostOf is the host of an address.
func HostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return strings.TrimSuffix(addr, ":")
	}
	return host
}
