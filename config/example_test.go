package config_test

import (
	"fmt"
	"log"

	"github.com/firncache/firn"
	"github.com/firncache/firn/config"
)

func ExampleLoad() {
	caches, err := config.Load("testdata/firn.yaml")
	if err != nil {
		log.Fatal(err)
	}
	sessions, err := caches.Open("sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer sessions.Close()
	fmt.Println(caches["sessions"].TTL)
	// Output: 10m0s
}

// What a file cannot say is added by the program.
func ExampleCaches_Options() {
	caches := config.Caches{"sessions": {RAMBytes: 1 << 20}}
	opts, err := caches.Options("sessions")
	if err != nil {
		log.Fatal(err)
	}
	opts.OnEvict = func(key, value []byte, cause firn.Cause) { fmt.Println(string(key), cause) }
	c, err := firn.Open(opts)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Set([]byte("ann"), []byte("logged in")); err != nil {
		log.Fatal(err)
	}
	if err := c.Delete([]byte("ann")); err != nil {
		log.Fatal(err)
	}
	// Output: ann deleted
}

// Every fault has its place.
func ExampleSource_Load() {
	_, err := config.Source{
		Path:      "firn.yaml",
		Data:      []byte("caches:\n  sessions:\n    ram_bytes: 64MiB\n    ttl: 300\n"),
		EnvPrefix: "APP",
		Environ:   []string{"APP_SESIONS_TTL=5m"},
	}.Load()
	fmt.Println(err)
	// Output:
	// firn.yaml:4:10: caches.sessions.ttl: "300" is no duration: want a number with a unit such as 300ms, 5m or 2h30m
	// environment: APP_SESIONS_TTL: unknown variable: want APP_CACHES, or APP_<cache>_<field>, of the caches sessions
}
