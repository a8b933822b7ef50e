// Package outage has the day without Redis: three caches over one server, each behind a proxy of
// its own, read keys that a fourth one writes, while the server is killed, restarted, full, evicting, slow or out of
// reach. It counts what that costs the source, how old answers become, and what is logged.
//
//	go test ./outage                  one outage: what it costs the source is checked
//	go test ./outage -v -day          all of them, a minute each, for every Degraded, as a table
package outage
