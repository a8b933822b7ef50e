package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// tlsFiles are the fields that stand for a tls.Config. tls: true is one with the
// system's authorities.
type tlsFiles struct {
	On         bool
	CA         string // file of certificates, in PEM, of the authorities that the server's is checked by
	Cert, Key  string // files of the client's certificate and its key, in PEM
	ServerName string // in the server's certificate; default: the address's host
}

// config reads the files. Its error is of the field that it names.
func (f *tlsFiles) config() (c *tls.Config, field string, err error) {
	c = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, "CA", fmt.Errorf("cannot be read: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, "CA", fmt.Errorf("is %s, which has no certificate: want some, in PEM", f.CA)
		}
	}
	switch {
	case f.Cert == "" && f.Key == "":
		return c, "", nil
	case f.Cert == "":
		return nil, "Cert", errors.New("is empty, and key is set: want both")
	case f.Key == "":
		return nil, "Key", errors.New("is empty, and cert is set: want both")
	}
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, "Cert", fmt.Errorf("with its key cannot be used: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, "", nil
}

// readShared is the tier that a cache's fields below shared describe, nil if they describe
// none: addrs, set to an empty list, take back what the defaults say.
func (r *reader) readShared(cache string, set *settings) firn.SharedTier {
	_, addrs := r.places[cache+".Shared.Addrs"]
	if !r.hasShared(cache) || addrs && len(set.Remote.Addrs) == 0 {
		return nil
	}
	if set.TLS.On {
		c, field, err := set.TLS.config()
		if err != nil {
			r.blameField(cache, "Shared.TLS."+field, err)
			return nil
		}
		set.Remote.TLS = c
	}
	if !r.mayShare(cache, set) {
		return nil
	}
	tier, err := remote.Open(set.Remote)
	if err != nil {
		r.blameShared(cache, err)
		return nil
	}
	return tier
}

// hasShared reports whether a field below shared was given.
func (r *reader) hasShared(cache string) bool {
	for path := range r.places {
		if strings.HasPrefix(path, cache+".Shared.") {
			return true
		}
	}
	return false
}

// blameShared adds a fault of the field that an error of remote.Options is about.
func (r *reader) blameShared(cache string, err error) {
	var option *remote.OptionError
	if errors.As(err, &option) {
		field, _, _ := strings.Cut(option.Field, "[") // of a list, an item
		r.blameField(cache, "Shared."+field, option.Err)
	} else {
		r.faults.add(r.places[cache].errorf("%w", err))
	}
}

// mayShare refuses that two caches have one namespace on one server: a value of
// the one would be found in the other.
func (r *reader) mayShare(cache string, set *settings) bool {
	for _, other := range slices.Sorted(maps.Keys(r.caches)) {
		if other == cache {
			return true
		}
		same := func(addr string) bool { return slices.Contains(r.caches[other].Remote.Addrs, addr) }
		if r.caches[other].Remote.Namespace == set.Remote.Namespace && set.Remote.Namespace != "" && slices.ContainsFunc(set.Remote.Addrs, same) {
			r.blameField(cache, "Shared.Namespace", fmt.Errorf("is %q, as that of %s on the same server: want one for each cache", set.Remote.Namespace, other))
			return false
		}
	}
	return true
}
