// Package wire is the way to one server: it has one connection at a time, makes another when that is
// lost, and fails the requests in between. All that one process sends to a server goes over one
// connection: the server pushes nothing to it that was changed on the same one.
//
//	common.go                       what wires have in common, and their owner
//	report.go, outages.go           their figures and their log; how often outages are logged
//	wire.go, epoch.go               connected, lost, closed; the epochs that this begins
//	request.go, guided.go           requests, also by way of another wire; their errors
//	presence.go                     whether the server answers
//	patience.go, checks.go          how long requests wait; how many checks there are at a time
package wire
