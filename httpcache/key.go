package httpcache

import (
	"net/http"
	"strings"
)

// DefaultKey is the key of a request: its URL with the scheme, the host in lower case and the query,
// and before them its Host field if that names another host than the URL.
func DefaultKey(r *http.Request) string {
	scheme, host := r.URL.Scheme, r.URL.Host
	if scheme == "" {
		if scheme = "http"; r.TLS != nil {
			scheme = "https"
		}
	}
	if host == "" {
		host = r.Host
	}
	key := strings.ToLower(scheme) + "://" + strings.ToLower(trimPort(scheme, host)) + r.URL.Opaque
	if r.URL.Opaque == "" {
		key += r.URL.EscapedPath()
	}
	if r.URL.ForceQuery || r.URL.RawQuery != "" {
		key += "?" + r.URL.RawQuery
	}
	if r.Host != "" && !strings.EqualFold(r.Host, host) {
		key = strings.ToLower(r.Host) + " " + key
	}
	return key
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

// primaryKey is the key of a request's URL, or "" if the cache has nothing to do with it.
func (c *Cache) primaryKey(r *http.Request) string {
	key := ""
	if c.options.Key != nil {
		key = c.options.Key(r)
	} else {
		key = DefaultKey(r)
	}
	if key == "" || len(key) > maxKey {
		return ""
	}
	return "u" + key
}
