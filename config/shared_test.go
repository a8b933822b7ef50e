package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

const sharedFile = `
defaults:
  ram_bytes: 1MiB
  shared:
    addrs: [a:6379, b]
    staleness: 2s
    username: shop
    password: ${REDIS_PASSWORD}
    tls: true
caches:
  carts:
    shared: {namespace: shop.carts, degraded: stale, compress_above: 4KiB, tls: {server_name: redis.example}}
  pages:
    shared:
      addrs: c
      namespace: shop.pages
      tls: false
      leases: "off"
      copy_ttl: 1m
  local:
    shared: {addrs: []}
`

// A cache's shared block is remote.Options.
func TestShared(t *testing.T) {
	got := remoteOptions(t, Source{Path: "f", Data: []byte(sharedFile), EnvPrefix: "APP", Environ: []string{"REDIS_PASSWORD=one", "REDIS_PASSWORD=s3:cret, $", "APP_PAGES_SHARED_MAX_VALUE_BYTES=1MiB"}})
	base := remote.Options{Addrs: []string{"a:6379", "b"}, Staleness: 2 * time.Second, Username: "shop", Password: "s3:cret, $"}
	carts, pages := base, base
	carts.Namespace, carts.Degraded, carts.CompressAbove = "shop.carts", remote.DegradedStale, 4<<10
	pages.Addrs, pages.Namespace, pages.Leases, pages.CopyTTL, pages.MaxValueBytes = []string{"c"}, "shop.pages", remote.LeasesOff, time.Minute, 1<<20
	if c := got["carts"].TLS; c == nil || c.ServerName != "redis.example" || c.RootCAs != nil {
		t.Errorf("TLS %+v: want one with a server's name and the system's authorities", c)
	}
	carts.TLS = got["carts"].TLS
	if want := map[string]remote.Options{"carts": carts, "pages": pages}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// remoteOptions are the options of the shared tiers that a source describes.
func remoteOptions(t *testing.T, src Source) map[string]remote.Options {
	t.Helper()
	caches, err := src.Load()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]remote.Options{}
	for name := range caches {
		opts, err := caches.Options(name)
		if err != nil {
			t.Fatal(err)
		}
		if tier, ok := opts.Shared.(*remote.Tier); ok {
			found[name] = tier.Options()
		} else if opts.Shared != nil {
			t.Errorf("%s: a shared tier of type %T", name, opts.Shared)
		}
	}
	return found
}

// The environment alone describes a tier, and overrides that of a file.
func TestSharedEnvironment(t *testing.T) {
	environ := []string{
		"APP_CACHES=c", "APP_C_RAM_BYTES=1MiB", "APP_C_SHARED_ADDRS=a, b:1", "APP_C_SHARED_NAMESPACE=n", "APP_C_SHARED_PASSWORD=${X}", "APP_C_SHARED_TLS_SERVER_NAME=s",
	}
	got := remoteOptions(t, Source{EnvPrefix: "APP", Environ: environ})["c"]
	want := remote.Options{Addrs: []string{"a", "b:1"}, Namespace: "n", Password: "${X}", TLS: got.TLS}
	if got.TLS == nil || got.TLS.ServerName != "s" || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	environ = append(environ, "APP_C_SHARED_TLS=false")
	if got := remoteOptions(t, Source{EnvPrefix: "APP", Environ: environ})["c"]; got.TLS == nil {
		t.Error("a field of TLS does not turn it on")
	}
}

func TestSharedFaults(t *testing.T) {
	const cache = "caches:\n  a:\n    ram_bytes: 1MiB\n    shared:"
	broken := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(broken, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, data, want string }{
		{"unknown field", cache + " {address: a}\n", `f:4:14: caches.a.shared.address: unknown field: want addrs, namespace,`},
		{"value for a block", cache + " localhost\n", `f:4:13: caches.a.shared: a plain value: want fields with values`},
		{"no address", cache + " {namespace: n}\n", `f:2:3: caches.a.shared.addrs: not set, and so it is []: want at least one`},
		{"no namespace", cache + " {addrs: [a]}\n", `f:2:3: caches.a.shared.namespace: not set, and so it is "": want 1 to 128 bytes`},
		{"wrong namespace", cache + "\n      addrs: [a]\n      namespace: a:b\n", `f:6:18: caches.a.shared.namespace: is "a:b": want 1 to 128 bytes`},
		{"wrong address", cache + "\n      namespace: n\n      addrs: [a, 'b:c']\n", `f:6:14: caches.a.shared.addrs: is "b:c": want "host:port"`},
		{"colon within braces", cache + " {namespace: n, addrs: [redis:6379]}\n", `f:4:35: caches.a.shared.addrs: a mapping: want a value: put it in quotes: "redis:6379"`},
		{"mapping for an address", cache + " {namespace: n, addrs: [{a: 1}]}\n", `f:4:35: caches.a.shared.addrs: a mapping: want a value`},
		{"too small", cache + " {addrs: [a], namespace: n, staleness: 1ms}\n", `f:4:51: caches.a.shared.staleness: is 1ms: want at least 50ms`},
		{"refused beside a shared tier", cache + " {addrs: [a], namespace: n}\n    expire_after_access: 1h\n", `f:5:26: caches.a.expire_after_access: is 1h0m0s, and there is a shared tier: want 0`},
		{"no such leases", cache + " {addrs: [a], namespace: n, leases: maybe}\n", `f:4:48: caches.a.shared.leases: "maybe" is none of the choices: want auto, on, off`},
		{"no choice", cache + " {addrs: [a], namespace: n, degraded: fail}\n", `f:4:50: caches.a.shared.degraded: "fail" is none of the choices: want miss, stale, error`},
		{"another database", cache + " {addrs: [a], namespace: n, database: 3}\n", `f:4:50: caches.a.shared.database: is 3: want 0`},
		{"no variable", cache + "\n      password: ${NOBODY}\n", `f:5:17: caches.a.shared.password: ${NOBODY} names a variable that is not set`},
		{"switch of TLS", cache + " {tls: yes}\n", `f:4:19: caches.a.shared.tls: "yes" is no switch: want true or false`},
		{"no certificates", cache + " {addrs: [a], namespace: n, tls: {ca: " + broken + "}}\n", `f:4:50: caches.a.shared.tls.ca: is ` + broken + `, which has no certificate`},
		{"no file", cache + " {addrs: [a], namespace: n, tls: {ca: /nowhere}}\n", `f:4:50: caches.a.shared.tls.ca: cannot be read: open /nowhere`},
		{"no key", cache + " {addrs: [a], namespace: n, tls: {cert: /c}}\n", `f:2:3: caches.a.shared.tls.key: not set, and so it is empty, and cert is set: want both`},
		{"one namespace for two", "defaults: {ram_bytes: 1MiB, shared: {addrs: [x, y], namespace: n}}\ncaches:\n  a:\n  b:\n    shared: {addrs: [y]}\n", `f:1:64: defaults.shared.namespace: is "n", as that of a on the same server: want one for each cache`},
	} {
		got, err := Source{Path: "f", Data: []byte(c.data), Environ: []string{}}.Load()
		var fault *Error
		if got != nil || !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

// Two caches may have one namespace on two servers.
func TestSharedNamespaces(t *testing.T) {
	file := strings.ReplaceAll(sharedFile, "shop.pages", "shop.carts")
	got := remoteOptions(t, Source{Path: "f", Data: []byte(file), Environ: []string{"REDIS_PASSWORD=p"}})
	if names := maps.Keys(got); len(got) != 2 || got["carts"].Namespace != got["pages"].Namespace {
		t.Errorf("tiers of %v", names)
	}
}

// Each Options has a tier of its own, so that a name can be opened again.
func TestSharedTierIsFresh(t *testing.T) {
	caches, err := Source{Path: "f", Data: []byte(sharedFile), Environ: []string{"REDIS_PASSWORD=p"}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[firn.SharedTier]bool{}
	for range 3 {
		opts, err := caches.Options("carts")
		if err != nil || seen[opts.Shared] {
			t.Fatalf("%v, or a tier that was given before", err)
		}
		seen[opts.Shared] = true
	}
}
