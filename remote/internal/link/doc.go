// Package link is one connection to a server: made once, checked, kept alive, lost. The transport is
// github.com/redis/rueidis, without its cache and its reconnecting: which connection
// was lost, and when, is what coherence rests on.
//
//	settings.go                     what connections have in common; their events; a server
//	dial.go, socket.go, probe.go    made once; made for a look alone
//	inspect.go, connect_error.go    what the server is, and whether it will do
//	conn.go                         requests; pushes; lost
//	beat.go, beat_cluster.go        heartbeats: of any server, of one in a cluster
//	heartbeat.go, rhythm.go         until when copies are trusted; how often
//	watchdog.go                     silence
package link
