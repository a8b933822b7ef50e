package httpcache

import (
	"cmp"
	"net/http"
	"strings"
)

// DefaultKey is the key of a request: its URL with the scheme, the host in lower case and the query,
// and before them its Host field if that names another host than the URL.
func DefaultKey(r *http.Request) string { return string(appendKey(nil, r)) }

func appendKey(b []byte, r *http.Request) []byte {
	scheme, host := r.URL.Scheme, r.URL.Host
	if scheme == "" {
		if scheme = "http"; r.TLS != nil {
			scheme = "https"
		}
	}
	if host == "" {
		host = r.Host
	}
	if r.Host != "" && !strings.EqualFold(r.Host, host) {
		b = append(append(b, strings.ToLower(r.Host)...), ' ')
	}
	b = append(append(b, strings.ToLower(scheme)...), "://"...)
	b = append(append(b, strings.ToLower(trimPort(scheme, host))...), r.URL.Opaque...)
	if r.URL.Opaque == "" {
		b = append(b, cmp.Or(r.URL.EscapedPath(), "/")...)
	}
	if r.URL.ForceQuery || r.URL.RawQuery != "" {
		b = append(append(b, '?'), r.URL.RawQuery...)
	}
	return b
}

// trimPort takes a scheme's own port off a host.
func trimPort(scheme, host string) string {
	switch strings.ToLower(scheme) {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}

// side is whose responses these are. What a server answers is not what its own client has got of a
// URL, whose host the server's clients choose.
type side byte

const (
	client side = 'u'
	server side = 's'
)

// primaryKey is the key of a request's URL, or "" if the cache has nothing to do with it.
func (c *Cache) primaryKey(s side, r *http.Request) string {
	var room [256]byte
	key := append(room[:0], byte(s))
	if c.options.Key != nil {
		key = append(key, c.options.Key(r)...)
	} else {
		key = appendKey(key, r)
	}
	if len(key) == 1 || len(key) > 1+maxKey {
		return ""
	}
	return string(key)
}
