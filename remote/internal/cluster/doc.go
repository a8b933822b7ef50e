// Package cluster is the servers of a tier, and who owns which slot. A server that is in no cluster is
// the only one, and owns the only slot.
//
// A server owns a slot if it says so itself, and that its state is ok; of two that do, the one of
// the higher configuration epoch: what others say of it only leads there. So a wire is connected,
// and has a feed, before it is given slots. Each server sends its map with every other
// heartbeat, and at once when one has answered that a slot is elsewhere; copies of a server's
// slots are trusted while its last map is within the bound, as the last PONG is.
//
//	cluster.go                      the servers, and wires to them
//	route.go, ask.go                the owner of a key; requests that one server sends to another
//	update.go, tenure.go            a server's map: who owns a slot from here on
//	epoch.go                        until when copies of a slot are trusted
package cluster
