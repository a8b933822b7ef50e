package remote

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// clusterMap is a cluster as one of its servers knows it.
type clusterMap struct {
	primaries []member // those that own slots, each once
	self      string   // the server's own id
	epoch     uint64   // its configuration epoch: of two that claim a slot the owner's is higher
	ok        bool     // it takes requests for keys
}

// member is a primary.
type member struct {
	id    string
	addr  string // "" if the server does not tell it
	slots []slotRange
}

var errMap = errors.New("the answer is not as documented")

// addrOf is an address; "" for one that is not known.
func addrOf(endpoint any, port int64, host string) string {
	name, _ := endpoint.(string)
	if name == "" {
		name = host
	}
	if name == "?" || port < 1 || port > 65535 {
		return ""
	}
	return net.JoinHostPort(name, strconv.FormatInt(port, 10))
}

func parseRange(from, to any) (slotRange, bool) {
	a, okFrom := from.(int64)
	b, okTo := to.(int64)
	r := slotRange{int(a), int(b)}
	return r, okFrom && okTo && r.valid()
}

// parseSlots is the answer to CLUSTER SLOTS: an array of arrays, of the first slot, the last,
// the primary and its replicas, each with address, port and id. Servers without an address are at
// the host that was asked. CLUSTER SHARDS, which is newer, is not asked: servers whose
// configuration is from before 7.2 leave themselves out there.
func parseSlots(answer any, host string) ([]member, error) {
	ranges, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("CLUSTER SLOTS: %w: %T", errMap, answer)
	}
	var found []member
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
			found = append(found, member{id: id, addr: addrOf(node[0], port, host)})
		}
		found[i].slots = append(found[i].slots, r)
	}
	return found, nil
}

func parseSlotsRange(a any) (r slotRange, node []any, ok bool) {
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

// parseClusterInfo takes the state and the epoch from CLUSTER INFO. Protocol 3 puts the text's
// format before it.
func parseClusterInfo(info string) (epoch uint64, ok bool) {
	info = strings.TrimPrefix(info, "txt:")
	epoch, err := strconv.ParseUint(infoField(info, "cluster_my_epoch"), 10, 64)
	return epoch, err == nil && infoField(info, "cluster_state") == "ok"
}

// hostOf is the host of an address.
func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return strings.TrimSuffix(addr, ":")
	}
	return host
}
