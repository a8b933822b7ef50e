package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/samples"
)

// The parts of the suite hybrid. Each is a process of its own, so that memory
// can be limited for each, and so that every store is opened anew. A job's
// Param is NUMBER:DIRECTORY; the number is said at each part.

// hybridTimes are how many times the memory the data is.
var hybridTimes = []int{2, 5, 20}

// At the most times the memory, entries are larger: with small ones, what every
// store keeps in memory for each would not leave it any for data.
const (
	largestTimes     = 20
	largestValueSize = 1 << 10
)

// fullTimes is the one that all cells are measured at.
const fullTimes = 5

// restartBytes are the sizes of the stores that are opened again.
func (o options) restartBytes() []int64 {
	if o.Small {
		return []int64{4 << 20}
	}
	return []int64{1 << 30, 10 << 30}
}

// restartValueSize is larger than that of the other parts, so that 10 GB are
// written within minutes.
const restartValueSize = 1 << 10

// param makes a job's Param.
func param(number int64, dir string) string { return fmt.Sprintf("%d:%s", number, dir) }

// hybridParam takes it apart.
func (j job) hybridParam() (number int64, dir string, err error) {
	text, dir, ok := strings.Cut(j.Param, ":")
	number, err = strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || dir == "" {
		return 0, "", fmt.Errorf("-param %q: expected NUMBER:DIRECTORY", j.Param)
	}
	return number, dir, nil
}

// scratch is the directory that the stores of a run lie in, on the disk of the
// results.
func (o options) scratch() string { return filepath.Join(o.Out, "hybrid.tmp") }

// hybridRivals lists the stores, beside firn.
func hybridRivals() []string {
	return slices.DeleteFunc(hybrid.Names(), func(name string) bool { return name == hybrid.Firn })
}

func hybridJobs(o options, taking []string, add func(job)) error {
	dir := o.scratch()
	data := o.hybridData()
	add(job{Kind: "hybrid-device", Rival: hybrid.Device, Param: param(0, dir), ValueSize: hybrid.ValueSize})
	for _, name := range append([]string{hybrid.Firn}, taking...) {
		for _, times := range hybridTimes {
			if o.Small && times != fullTimes {
				continue
			}
			j := job{Rival: name, Param: param(int64(times), dir), ValueSize: hybrid.ValueSize}
			if times == largestTimes { // the same bytes in fewer entries
				j.ValueSize = largestValueSize
				j.Entries = int(data / (hybrid.KeySize + largestValueSize))
			}
			if j.Kind = "hybrid-load"; times != fullTimes || o.Small { // otherwise the store is there
				add(j)
			}
			j.Kind = "hybrid-run"
			add(j)
		}
		add(job{Kind: "hybrid-faster", Rival: name, Param: param(0, dir)})
		for _, size := range o.restartBytes() {
			add(job{Kind: "hybrid-restart", Rival: name, Param: param(size, dir)})
		}
	}
	return nil
}

// hybridData is the bytes of keys and values of a store with all entries.
func (o options) hybridData() int64 { return int64(o.Entries) * (hybrid.KeySize + hybrid.ValueSize) }

// hybridDisk wants room for a store of each job, which may take more than its
// data.
func hybridDisk(o options) error {
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return err
	}
	need := max(3*o.hybridData(), 2*slices.Max(o.restartBytes()))
	if free := hybrid.FreeDisk(o.Out); free > 0 && free < need {
		return fmt.Errorf("%s: %.1f GiB of disk needed, %.1f GiB free: give a smaller -n, or an -out on a larger disk", o.Out, gib(need), gib(free))
	}
	return nil
}

// hybridNotes say how the figures were made, and add which share of the device's
// reads firn's are.
func hybridNotes(all []samples.Sample) ([]samples.Sample, []string) {
	limit := "Memory was limited by a control group, page cache included, and Go's own memory by GOMEMLIMIT at 4/5 of it."
	if g, err := hybrid.NewGroup(1 << 30); err != nil {
		limit = fmt.Sprintf("No control group could be made (%v): memory was limited by GOMEMLIMIT and the stores' own settings, and the page cache was not: that favours the stores that use it, which firn does not.", err)
	} else if err := g.Remove(); err != nil {
		limit += fmt.Sprintf(" The group could not be removed: %v.", err)
	}
	notes := []string{
		fmt.Sprintf("Entries of %d + %d bytes (%d at %d times the memory) that cannot be compressed, loaded in the order of their keys, which is best for trees. %s What the load left in the page cache is dropped before the first read.", hybrid.KeySize, hybrid.ValueSize, largestValueSize, largestTimes, limit),
		"Bytes read and written are those that the kernel counts for the process. A second after each cell of Sets counts too; what is compacted later does not.",
		fmt.Sprintf("Restarts: values of %d bytes, warm page cache; restart is until 100 entries spread over all have been found, restart-open until Open returned, by which all of them have found what is there. Kill is kill -9 after one entry in a hundred was overwritten; those are not looked for, since what a cache holds in memory alone may be lost.", restartValueSize),
		fmt.Sprintf("FasterKvCache's table: %d keys of %d bytes in 2 MB, half of the operations on 50 of them; each goroutine does 1,000 operations, and all of them are done.", hybrid.FasterKeys, hybrid.FasterValueSize),
		fmt.Sprintf("Device: random direct reads of %d bytes of a file of up to 2 GiB on the same disk, through the same queue as firn's, without a cache. Of Gets that memory answers the device does not see anything: device-share can be above 100 %%.", hybrid.RawRead),
	}
	return deviceShares(all), notes
}

// deviceShares is firn's rate of Gets of uniform keys in per cent of the device's
// rate of reads, where both were measured.
func deviceShares(all []samples.Sample) (shares []samples.Sample) {
	for _, inFlight := range hybridInFlight {
		raw := samples.Select(all, samples.Filter{Suite: "hybrid", Name: fmt.Sprintf("device-read/inflight=%d", inFlight), Cache: hybrid.Device})
		for _, times := range hybridTimes {
			prefix, suffix := fmt.Sprintf("get/%s/times=%d/", keys.Uniform, times), fmt.Sprintf("/inflight=%d", inFlight)
			var own []samples.Sample
			for _, s := range samples.Select(all, samples.Filter{Suite: "hybrid", Cache: hybrid.Firn}) {
				if strings.HasPrefix(s.Name, prefix) && strings.HasSuffix(s.Name, suffix) {
					own = append(own, s)
				}
			}
			if len(raw) == 0 || len(own) == 0 {
				continue
			}
			share := 100 * samples.Values(raw).Median / samples.Values(own).Median
			shares = append(shares, samples.Sample{Suite: "hybrid", Name: fmt.Sprintf("device-share/times=%d/inflight=%d", times, inFlight), Cache: hybrid.Firn, Ops: own[0].Ops, Value: share, Unit: "%"})
		}
	}
	return shares
}

// hybridClean removes a run's files from the disk.
func hybridClean(o options) error { return os.RemoveAll(o.scratch()) }

// hybridData is the bytes of keys and values.
func (j job) hybridData() int64 { return int64(j.Entries) * int64(hybrid.KeySize+j.ValueSize) }

// hybridMemory is the limit of a job's process, in bytes; 0: none.
func hybridMemory(j job) int64 {
	times, _, err := j.hybridParam()
	if err != nil || j.Kind != "hybrid-run" {
		return 0
	}
	return limitAt(j.hybridData(), times)
}

// limitAt is the limit at so many times the memory.
func limitAt(data, times int64) int64 {
	const least = 96 << 20 // for the program itself
	return max(data/times, least)
}

// hybridLeast is the least limit that the store which a job loads is run with.
func hybridLeast(j job) int64 {
	times, _, err := j.hybridParam()
	if err != nil || times < 1 {
		return 0
	}
	return limitAt(j.hybridData(), max(times, fullTimes))
}

// storeMemory is the part of a process's memory that its store is told to use: the
// program itself, its stacks and what the collector has not seen yet take the
// rest.
func storeMemory(limit int64) int64 { return max(limit-64<<20, limit/3) }

// loadMemory is the memory that a store may use while it is filled, or opened again.
func loadMemory(data int64) int64 { return min(max(data/2, 256<<20), 1<<30) }
