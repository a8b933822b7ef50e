package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/shared"
)

// sharedFeed is the Param of the job that measures the feed.
const sharedFeed = "feed"

// sharedOps is how many operations a turn has: those on the network take 3 to 100 µs each.
func (j job) sharedOps(op shared.Op) int {
	switch {
	case j.Small:
		return 64 * shared.BatchSize
	case op == shared.Hit:
		return 1 << 18
	case op == shared.FetchBatch || op == shared.SetBatch:
		return 1 << 15
	}
	return 1 << 12
}

// sharedWeight expects 40 µs of an operation on the network.
func sharedWeight(j job) float64 {
	turns := float64((j.Repeats + 1) * len(shared.Names()) * len(shared.Goroutines))
	return turns * (0.1 + 4e-5*float64(j.sharedOps(shared.Op(j.Param))))
}

func sharedRivals() []string { return shared.Names()[1:] }

// sharedServer says that there is no server to measure.
func sharedServer() error {
	if !shared.Installed() {
		return errors.New("want redis-server or valkey-server in PATH")
	}
	return nil
}

// sharedJobs makes one job for each operation, with all stores, and one for the feed.
func sharedJobs(_ options, taking []string, add func(job)) error {
	names := strings.Join(append([]string{rivals.Firn}, taking...), ",")
	for _, op := range shared.Ops {
		add(job{Kind: "shared", Rival: rivals.Firn, Param: string(op) + " " + names})
	}
	add(job{Kind: "shared", Rival: rivals.Firn, Param: sharedFeed + " " + names})
	return nil
}

// runShared measures one operation.
func runShared(j job, out *emitter) (err error) {
	server, err := shared.StartServer(endsWithThis)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	op, names, _ := strings.Cut(j.Param, " ")
	if op == sharedFeed {
		return j.measureFeed(server, out)
	}
	b, err := shared.NewBench(server, strings.Split(names, ","), j.ValueSize)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, g := range shared.Goroutines {
		turns, err := b.Play(shared.Op(op), g, j.sharedOps(shared.Op(op)), j.Repeats)
		if err != nil {
			return err
		}
		out.emit(j.sharedSamples(turns, op+"/goroutines="+strconv.Itoa(g), server)...)
	}
	return nil
}

// measureFeed measures what listening caches cost.
func (j job) measureFeed(server *shared.Server, out *emitter) error {
	for _, n := range shared.Subscribers {
		turns, err := shared.Feed(server, n, j.sharedOps(shared.Set), j.Repeats, j.ValueSize)
		if err != nil {
			return err
		}
		out.emit(j.sharedSamples(turns, sharedFeed+"/subscribers="+strconv.Itoa(n), server)...)
	}
	return nil
}

func (j job) sharedSamples(turns []shared.Turn, name string, server *shared.Server) (all []samples.Sample) {
	for _, t := range turns {
		all = append(all, samples.Sample{
			Suite: j.Suite, Name: name, Cache: t.Store, Repeat: t.Repeat, Ops: t.Ops, Value: t.Ns, Unit: "ns/op",
			Note: fmt.Sprintf("server %s on this machine, by TCP", server.Version),
		})
	}
	return all
}
