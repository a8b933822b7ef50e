package config

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
)

var twoCaches = Caches{
	"sessions": {RAMBytes: 64 << 20, TTL: 10 * time.Minute, Loading: firn.LoadingOptions{StaleWhileRevalidate: time.Hour, MaxLoads: 8}},
	"thumbnails": {RAMBytes: 1 << 30, MaxRAMBytes: 4 << 30, SSD: firn.SSDOptions{
		Dir: "/var/cache/thumbnails", Bytes: 64 << 30, WriteBudget: 500e9, Admission: firn.AdmitRead,
	}},
}

// YAML and JSON say the same.
func TestLoad(t *testing.T) {
	for _, file := range []string{"firn.yaml", "firn.json"} {
		got, err := Load(filepath.Join("testdata", file))
		if err != nil || !reflect.DeepEqual(got, twoCaches) {
			t.Errorf("%s: %+v, %v: want %+v", file, got, err, twoCaches)
		}
	}
	if _, err := Load("testdata/absent.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
}

// What may stand before the first field.
func TestBeforeTheFirstField(t *testing.T) {
	for _, before := range []string{"---\n", "\ufeff", "%YAML 1.2\n---\n"} {
		if _, err := (Source{Path: "f", Data: []byte(before + "caches:\n  a:\n    ram_bytes: 1MiB\n")}).Load(); err != nil {
			t.Errorf("%q: %v", before, err)
		}
	}
}

// Data needs no path.
func TestData(t *testing.T) {
	if got, err := (Source{Data: []byte("caches:\n  a:\n    ram_bytes: 1MiB\n")}).Load(); err != nil || got["a"].RAMBytes != 1<<20 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := (Source{Data: []byte("cache:\n")}).Load(); err == nil || err.Error() != "data:1:1: cache: unknown field: want defaults or caches" {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	caches := Caches{"small": {RAMBytes: 1 << 20, TTL: time.Hour}, "bad": {}}
	c, err := caches.Open("small")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Set([]byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	if ttl, ok := c.TTL([]byte("k")); !ok || ttl <= 0 || ttl > time.Hour {
		t.Errorf("ttl %v, %v: want that of the options", ttl, ok)
	}
	if _, err := caches.Open("large"); err == nil || !strings.Contains(err.Error(), `"large": there are bad, small`) {
		t.Errorf("an unknown name: %v", err)
	}
	var option *firn.OptionError
	if _, err := caches.Open("bad"); !errors.As(err, &option) || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("options that make no sense: %v", err)
	}
}

// The environment overrides the file, and can stand alone.
func TestEnvironment(t *testing.T) {
	src := Source{Path: "testdata/firn.yaml", EnvPrefix: "APP", Environ: []string{
		"APP_SESSIONS_RAM_BYTES=128MiB", "APP_SESSIONS_LOADING_STALE_WHILE_REVALIDATE=2h", "APP_THUMBNAILS_TTL=1h", "APP_THUMBNAILS_SSD_RECOVERY=never", "APP_THUMBNAILS_MAX_RAM_BYTES=", "APP_SESSIONS_LOADING_HARD_TIMEOUT=forever", "APPLE=1", "PATH=/bin",
		"APP_CACHES=sessions, per-user", "APP_PER_USER_RAM_BYTES=1MiB",
	}}
	want := maps.Clone(twoCaches)
	sessions, thumbnails := want["sessions"], want["thumbnails"]
	sessions.RAMBytes, sessions.Loading.StaleWhileRevalidate = 128<<20, 2*time.Hour
	sessions.Loading.HardTimeout = firn.Forever
	thumbnails.TTL, thumbnails.SSD.Recovery = time.Hour, firn.RecoverNever
	want["sessions"], want["thumbnails"] = sessions, thumbnails
	want["per-user"] = firn.Options{RAMBytes: 1 << 20, TTL: 10 * time.Minute} // the file's default
	if got, err := src.Load(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v: want %+v", got, err, want)
	}
	t.Setenv("FIRN_CONFIG_TEST_CACHES", "one")
	t.Setenv("FIRN_CONFIG_TEST_ONE_RAM_BYTES", "2MiB")
	got, err := Source{EnvPrefix: "FIRN_CONFIG_TEST_"}.Load()
	if want := (Caches{"one": {RAMBytes: 2 << 20}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the environment alone: %+v, %v: want %+v", got, err, want)
	}
}

// Every fault names file, line, column and field, and all of them are reported.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"not YAML", "caches: [1\n", `f:1:9: sequence end token ']' not found`},
		{"not JSON", "{\"caches\": {\"a\": {\"ram_bytes\": \"1MiB\"}}", `f:1:1: could not find flow map`},
		{"unknown at the top", "cache:\n  a:\n", `f:1:1: cache: unknown field: want defaults or caches`},
		{"unknown field", "caches:\n  a:\n    ram_bytes: 1MiB\n    rambytes: 2MiB\n", `f:4:5: caches.a.rambytes: unknown field: want ` + names(optionFields)},
		{"Go's name", "caches:\n  a:\n    RAMBytes: 1MiB\n", `f:3:5: caches.a.RAMBytes: unknown field`},
		{"twice", "caches:\n  a:\n    ram_bytes: 1MiB\n    ram_bytes: 2MiB\n", `f:4:5: mapping key "ram_bytes" already defined at [3:5]`},
		{"twice in JSON", "{\"caches\":\n{\"a\": {},\n\"a\": {}}}", `f:3:1: mapping key "a" already defined at [2:2]`},
		{"a function", "caches:\n  a:\n    on_evict: f\n", `f:3:5: caches.a.on_evict: unknown field`},
		{"no unit", "caches:\n  a:\n    ttl: 300\n", `f:3:10: caches.a.ttl: "300" is no duration: want a number with a unit`},
		{"wrong unit", "defaults:\n  ram_bytes: 1 MeB\n", `f:2:14: defaults.ram_bytes: "1 MeB" is no size`},
		{"part of a byte", "caches:\n  a:\n    ram_bytes: 1.5\n", `f:3:16: caches.a.ram_bytes: "1.5" is no size: want a whole number`},
		{"beyond all", "caches:\n  a:\n    ram_bytes: 9EiB\n", `f:3:16: caches.a.ram_bytes: "9EiB" is no size`},
		{"list for a value", "caches:\n  a:\n    ram_bytes: [1, 2]\n", `f:3:16: caches.a.ram_bytes: a list: want a value`},
		{"mapping for a value", "caches:\n  a:\n    ram_bytes:\n      least: 1\n", `f:4:7: caches.a.ram_bytes: a mapping: want a value`},
		{"nothing for a value", "caches:\n  a:\n    ram_bytes:\n", `f:3:16: caches.a.ram_bytes: nothing: want a value`},
		{"value for a cache", "caches:\n  a: 64MiB\n", `f:2:6: caches.a: a plain value: want fields with values`},
		{"list of caches", "caches:\n  - a\n", `f:2:3: caches: a list: want fields with values`},
		{"alias", "defaults: &d\n  ttl: 1m\ncaches: {a: {ram_bytes: 1MiB}}\n", `f:1:11: defaults: an anchor, alias or tag, which are not read here`},
		{"merge", "caches: {a: {ram_bytes: 1MiB}, b: {<<: {ram_bytes: 1MiB}}}\n", `f:1:36: caches.b: an anchor, alias or tag, which are not read here as the name of a field`},
		{"two documents", "caches:\n  a:\n---\ncaches:\n", `f:4:1: a second document`},
		{"nothing", "# nothing\n", `f: caches: missing: want at least one cache`},
		{"refused by Open", "caches:\n  a:\n    ram_bytes: 1000\n", `f:3:16: caches.a.ram_bytes: is 1000: want at least 65536 bytes`},
		{"refused by Open, flow", "{\"caches\": {\"a\":\n\t{\"ttl\": \"-5m\", \"ram_bytes\": \"1MiB\"}}}", `f:2:10: caches.a.ttl: is -5m0s: want 0, 1ms to`},
		{"refused, from the defaults", "caches:\n  a:\n  b:\ndefaults:\n  ram_bytes: 1000\n", `f:5:14: defaults.ram_bytes: is 1000: want`},
		{"no choice", "caches:\n  a:\n    ssd:\n      admission: some\n", `f:4:18: caches.a.ssd.admission: "some" is none of the choices: want seen, read, all`},
		{"unknown within", "caches:\n  a:\n    ssd: {directory: /d}\n", `f:3:11: caches.a.ssd.directory: unknown field: want dir, bytes,`},
		{"value for a struct", "caches:\n  a:\n    ssd: /d\n", `f:3:10: caches.a.ssd: a plain value: want fields with values`},
		{"refused within", "caches:\n  a:\n    ram_bytes: 1MiB\n    ssd:\n      dir: /d\n      bytes: 5\n", `f:6:14: caches.a.ssd.bytes: is 5: want at least`},
		{"required within", "caches:\n  a:\n    ram_bytes: 1MiB\n    ssd:\n      compress: true\n", `f:2:3: caches.a.ssd.dir: not set, and so it is empty, and`},
		{"no name of a directory", "caches:\n  a/b:\n    ram_bytes: 1MiB\n    ssd:\n      bytes: 1GiB\n", `f:2:3: caches.a/b.ssd.dir: not set, and so it is empty, and`},
		{"one directory for two", "caches:\n  a:\n    ram_bytes: 1MiB\n    ssd: {dir: d, bytes: 8MiB}\n  b:\n    ram_bytes: 1MiB\n    ssd: {dir: x/../d/, bytes: 8MiB}\n", `f:7:16: caches.b.ssd.dir: is "x/../d/", for a and for b: want one for each cache`},
		{"one directory in the defaults", "defaults: {ram_bytes: 1MiB, ssd: {dir: d, bytes: 8MiB}}\ncaches:\n  a:\n  b:\n", `f:1:40: defaults.ssd.dir: is "d", for a and for b: want one for each cache`},
		{"required", "caches:\n  a:\n    ttl: 5m\n", `f:2:3: caches.a.ram_bytes: not set, and so it is 0: want at least`},
	} {
		got, err := Source{Path: "f", Data: []byte(c.data)}.Load()
		var fault *Error
		if got != nil || !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, %v\nwant %s", c.name, got, err, c.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one fault: %v", c.name, err)
		}
	}
}

func TestFaultsOfTheEnvironment(t *testing.T) {
	for _, c := range []struct{ variable, want string }{
		{"E_SESIONS_TTL=5m", `environment: E_SESIONS_TTL: unknown variable: want E_CACHES, or E_<cache>_<field>, of the caches sessions, thumbnails`},
		{"E_SESSIONS_TTL=5", `environment: E_SESSIONS_TTL: "5" is no duration: want a number with a unit`},
		{"E_SESSIONS_RAM_BYTES=5", `environment: E_SESSIONS_RAM_BYTES: is 5: want at least 65536 bytes`},
		{"E_CACHES=new", `environment: E_CACHES: new.ram_bytes: not set, and so it is 0: want at least`},
		{"E_CACHES=Sessions", `environment: E_SESSIONS_RAM_BYTES: it would set ram_bytes of Sessions, and ram_bytes of sessions`},
	} {
		_, err := Source{Path: "testdata/firn.yaml", EnvPrefix: "E", Environ: []string{c.variable}}.Load()
		var fault *Error
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", c.variable, err, c.want)
		}
	}
}

// All faults come at once, in the order of the lines, the environment last.
func TestFaultsTogether(t *testing.T) {
	data := "caches:\n  b:\n    ttl: soon\n    size: 1\n  a:\n    ram_bytes: 1 MiB\ndefaults: 5\n"
	_, err := Source{Path: "f", Data: []byte(data), EnvPrefix: "E", Environ: []string{"E_X=1"}}.Load()
	var places []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		fault := e.(*Error)
		places = append(places, place{fault.File, fault.Line, fault.Column, fault.Field}.errorf("").Error())
	}
	want := []string{"f:3:10: caches.b.ttl: ", "f:4:5: caches.b.size: ", "f:7:11: defaults: ", "environment: E_X: "}
	if !slices.Equal(places, want) {
		t.Errorf("%q, want %q", places, want)
	}
}

// An SSD tier without a directory has one by the name of program and cache.
func TestDirByName(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} { // by system
		t.Setenv(name, t.TempDir())
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	caches, err := Source{Path: "f", Data: []byte("caches:\n  pages:\n    ram_bytes: 1MiB\n    ssd: {bytes: 8MiB}\n")}.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "firn", filepath.Base(os.Args[0]), "pages")
	if got := caches["pages"].SSD.Dir; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	c, err := caches.Open("pages")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(want); err != nil {
		t.Error(err)
	}
}

// A cache that a file switches off keeps nothing, and its other options are no error.
func TestOff(t *testing.T) {
	caches, err := Source{Path: "f", Data: []byte("defaults: {ssd: {dir: d, bytes: 8MiB}}\ncaches:\n  new: {ram_bytes: 1MiB}\n  pages:\n    off: true\n    ram_bytes: 1MiB\n    ttl: 1m\n    loading: {max_loads: 2}\n")}.Load()
	if err != nil {
		t.Fatal(err)
	}
	c, err := caches.Open("pages")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	loads := 0
	for range 2 {
		v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
			loads++
			return []byte("v"), nil
		})
		if err != nil || string(v) != "v" {
			t.Errorf("%q, %v", v, err)
		}
	}
	if err := c.Set([]byte("k"), []byte("v")); err != nil {
		t.Error(err)
	}
	if c.Has([]byte("k")) || loads != 2 || c.Len() != 0 {
		t.Errorf("%d loads of 2, %d entries: the cache is not off", loads, c.Len())
	}
}
