package live

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// hostAllowed reports whether a request may come by the name that it came by. A site that a
// browser visits can have its own name lead to 127.0.0.1, and would read the page as its own:
// what comes to a loopback address must name an address, localhost, this machine or one of hosts.
// If there are hosts, that holds for every address.
func hostAllowed(r *http.Request, hosts []string) bool {
	if len(hosts) == 0 && !toLoopback(r) {
		return true
	}
	name := hostName(r.Host)
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return true
	}
	return name == "localhost" || name == machine() || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(hosts, func(h string) bool { return hostName(h) == name })
}

// machine is the name of this machine, in small letters; empty if it has none.
var machine = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return strings.ToLower(name)
})

// toLoopback reports whether a request came to a loopback address of this machine.
func toLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	address, err := netip.ParseAddrPort(local.String())
	return err == nil && address.Addr().IsLoopback()
}

// hostName is the name or address in a Host, in small letters.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originAllowed reports whether a request is of the page itself, of a person who follows a
// link, or of a program that is no browser. Browsers do not let other sites read an answer; this
// keeps them from asking.
func originAllowed(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		return sameOrigin(r)
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// sameOrigin reports whether the Origin of a request, if it has one, is the host that it came to.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}
