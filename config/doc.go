// Package config reads the options of caches from YAML, JSON and the
// environment.
//
// One file describes any number of caches by name:
//
//	defaults:              # options that every cache begins with; may be left out
//	  ttl: 10m
//	caches:
//	  sessions:
//	    ram_bytes: 64MiB
//	    loading: {stale_while_revalidate: 1h, max_loads: 8}
//	  thumbnails:
//	    ram_bytes: 1GiB
//	    ttl: 0s            # never expire
//	    ssd:
//	      bytes: 64GiB
//	      dir: /var/cache/thumbnails   # default: firn/PROGRAM/thumbnails in the user's cache directory
//
// and a program opens them:
//
//	caches, err := config.Load("firn.yaml")
//	if err != nil {
//		return err // with file, line and field
//	}
//	sessions, err := caches.Open("sessions")
//
// # Fields
//
// The fields are those of [firn.Options] in snake case: RAMBytes is ram_bytes,
// and the fields of a struct are below its name. Functions and the like, such
// as OnEvict, can be set by a program only, with [Caches.Options].
//
//   - A size is a number of bytes, or a number with a unit: KiB, MiB, GiB and
//     TiB are powers of 1024, kB, MB, GB and TB powers of 1000. One of RAM may be a part of
//     the memory that the process may use, by its control group or the machine: 40%.
//   - A duration has a unit: 300ms, 5m, 2h30m. A day is 24h. forever is
//     firn.Forever.
//   - A choice has the name that its String method gives it: admission: all.
//   - In JSON, all three are strings: "64MiB", "5m". A size may be a plain number.
//   - A list is written as one, or as a text with commas in between.
//
// # Shared tier
//
// Below shared are the fields of [remote.Options], for a cache that shares its entries with
// those of other processes:
//
//	defaults:
//	  shared:
//	    addrs: [redis-1:6379, redis-2:6379]
//	    username: shop
//	    password: ${REDIS_PASSWORD}
//	    tls: true                        # or {ca: …, cert: …, key: …, server_name: …}
//	caches:
//	  carts:
//	    ram_bytes: 256MiB
//	    shared: {namespace: shop.carts, staleness: 1s, degraded: stale}
//	  local:
//	    ram_bytes: 64MiB
//	    shared: {addrs: []}              # none, whatever the defaults say
//
// Each cache has a namespace of its own. A value below shared that is ${NAME}, and nothing
// else, is the environment variable of that name, which has to be set. The files of
// tls are in PEM, and are read by Load; with none, the system's authorities are asked. Load
// connects to nobody: firn.Open does.
//
// # Environment
//
// With [Source.EnvPrefix], variables override the file: with the prefix FIRN,
// FIRN_SESSIONS_RAM_BYTES is the ram_bytes of sessions. Letters become capital,
// everything other than letters and digits becomes an underscore.
// FIRN_CACHES=sessions,thumbnails names caches that no file describes. An empty
// variable is one that was not set. A variable that has the prefix and means
// nothing is an error, lest a typing error go unseen: choose a prefix that
// nobody else uses. A list has commas in between: FIRN_CARTS_SHARED_ADDRS=a:6379,b:6379.
//
// # Errors
//
// All faults of a file are reported at once, each as an [Error] with file, line,
// column and field: unknown and repeated fields, values of the wrong form, and
// values that [firn.Open] would refuse.
//
// The YAML parser is github.com/goccy/go-yaml: it is maintained, depends on
// nothing, and its syntax tree knows the line and column of every value. A
// library that reads into maps, such as koanf or viper, no longer knows them
// when a value turns out to be wrong. JSON is read by the same parser, as the
// subset of YAML that it is. Anchors, aliases and tags are refused: "defaults"
// is there to share options.
package config
