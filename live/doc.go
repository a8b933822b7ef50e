// Package live shows caches while they run, on a page for a browser:
//
//	http.Handle("/debug/firn/", live.Handler(users, pictures))
//
// It shows figures, never a value, and keys only where [Options.HotKeys] is set. Nothing can be changed there. Below the path
// of the page are
//
//	stats.json     the last frame, for people and scripts
//	metrics        all of stats.Metrics in Prometheus' text format, by the names of metrics/firnprometheus
//	history.json   the figures of the last 15 minutes
//	events         a frame each second, as server-sent events
//	hotkeys.json   the keys that are read most, where Options.HotKeys is set
//
// history.json, events and hotkeys.json have ?cache=NAME: of that cache, the first by default, they have
// everything, and of the others what a list of caches needs.
//
// # Terminology
//
//   - frame: what the page is told each second: the state of the process and of each cache, with
//     rates and quantiles of the last five seconds. It has a number, one above that of the frame before.
//   - series: a figure of a cache over time. The history has the last 900 of each.
//   - run: a name that a handler gives itself when it is made. A page that finds another one, or
//     a number that does not follow, gets the history anew.
//   - viewer: a stream of events. It never waits for another one, and nothing waits for it: one
//     that is slow gets the latest frame when it is ready, one that takes none for ten
//     seconds is dropped.
//
// # Who may look
//
// The package knows no users. As with net/http/pprof, mount the page where only those who may see
// it come, or wrap the handler. What browsers could be made to do is refused: requests for
// another site's pages, frames, and a Host that is not this machine's at a loopback address (see
// Options.Hosts).
//
// Frames are sent uncompressed, about 5 KB and a quarter of one for each further cache: to compress them for each
// viewer would cost more than all else. A proxy may do it.
package live
