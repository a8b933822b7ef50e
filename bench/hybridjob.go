package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

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
func (p plan) restartBytes() []int64 {
	if p.Small {
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
func (p plan) scratch() string { return filepath.Join(p.Out, "hybrid.tmp") }

// hybridRivals lists the stores, beside firn.
func hybridRivals() []string {
	return slices.DeleteFunc(hybrid.Names(), func(name string) bool { return name == hybrid.Firn })
}

func hybridJobs(p plan, taking []string, add func(job)) error {
	dir := p.scratch()
	data := int64(p.Entries) * (hybrid.KeySize + hybrid.ValueSize)
	if err := checkDisk(p.Out, max(3*data, 2*slices.Max(p.restartBytes()))); err != nil {
		return err
	}
	add(job{Kind: "hybrid-device", Rival: hybrid.Device, Param: param(0, dir), ValueSize: hybrid.ValueSize})
	for _, name := range append([]string{hybrid.Firn}, taking...) {
		for _, times := range hybridTimes {
			if p.Small && times != fullTimes {
				continue
			}
			j := job{Rival: name, Param: param(int64(times), dir), ValueSize: hybrid.ValueSize}
			if times == largestTimes { // the same bytes in fewer entries
				j.ValueSize = largestValueSize
				j.Entries = int(data / (hybrid.KeySize + largestValueSize))
			}
			if j.Kind = "hybrid-load"; times != fullTimes || p.Small { // otherwise the store is there
				add(j)
			}
			j.Kind = "hybrid-run"
			add(j)
		}
		add(job{Kind: "hybrid-faster", Rival: name, Param: param(0, dir)})
		for _, size := range p.restartBytes() {
			add(job{Kind: "hybrid-restart", Rival: name, Param: param(size, dir)})
		}
	}
	return nil
}

// checkDisk wants room for a store of each job, which may take more than its
// data.
func checkDisk(dir string, need int64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if free := hybrid.FreeDisk(dir); free > 0 && free < need {
		return fmt.Errorf("%s: %.1f GiB of disk needed, %.1f GiB free: give a smaller -n, or an -out on a larger disk", dir, gib(need), gib(free))
	}
	return nil
}

// hybridNotes say how the figures were made, and add what share of the device's
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
		fmt.Sprintf("Restarts: values of %d bytes, warm page cache; restart is until 100 entries spread over all have been found, restart-open until Open returned, restart-recovered, for firn, which serves meanwhile, until its index was whole. Kill is kill -9 after one entry in a hundred was overwritten; those are not looked for, since what a cache holds in memory alone may be lost.", restartValueSize),
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

// hybridClean removes what a run left on the disk.
func hybridClean(p plan) error { return os.RemoveAll(p.scratch()) }

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

// storeMemory is what of a process's memory its store is told to use: the
// program itself, its stacks and what the collector has not seen yet take the
// rest.
func storeMemory(limit int64) int64 { return max(limit-64<<20, limit/3) }

// loadMemory is what a store may use while it is filled, or opened again.
func loadMemory(data int64) int64 { return min(max(data/2, 256<<20), 1<<30) }

// freshStore makes an empty directory for a store, after removing those of
// others: one at a time is enough for any disk.
func freshStore(j job, what string) (string, error) {
	_, root, err := j.hybridParam()
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	dir := filepath.Join(root, j.Rival+"-"+what)
	return dir, os.MkdirAll(dir, 0o755)
}

func (j job) hybridSample(name, unit string, repeat int, ops int64, value float64) samples.Sample {
	return samples.Sample{Suite: j.Suite, Name: name, Cache: j.Rival, Repeat: repeat, Ops: max(ops, 1), Value: value, Unit: unit}
}

func hybridLoadWeight(j job) float64 { return 3 + float64(j.hybridData())/120e6 }

// runHybridLoad fills a store, in the order of the keys.
func runHybridLoad(j job, out *emitter) error {
	dir, err := freshStore(j, "data")
	if err != nil {
		return err
	}
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return err
	}
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: loadMemory(j.hybridData()), Least: storeMemory(hybridLeast(j)), DataBytes: j.hybridData(), Readers: 1})
	if err != nil {
		return err
	}
	next := sorted(j.Entries, j.ValueSize) // sorting is no part of the load
	before, began := hybrid.ReadIO(), time.Now()
	if err := s.Load(j.Entries, next); err != nil {
		return err
	}
	took := time.Since(began)
	if err := s.Close(); err != nil {
		return err
	}
	after := hybrid.ReadIO()
	if err := os.WriteFile(loadedMark(dir), nil, 0o644); err != nil {
		return err
	}
	out.emit(j.hybridSample(fmt.Sprintf("load/n=%d/value=%d", j.Entries, j.ValueSize), "ns/op", 0, int64(j.Entries), float64(took.Nanoseconds())/float64(j.Entries)))
	if after.Known {
		out.emit(j.hybridSample(fmt.Sprintf("written/load/value=%d", j.ValueSize), "bytes/byte", 0, int64(j.Entries), float64(after.Written-before.Written)/float64(j.hybridData())))
	}
	return nil
}

// loadedMark is the file beside a store that says that all of it was loaded.
func loadedMark(dir string) string { return dir + ".loaded" }

// sorted is hybrid.Pair in the order of the keys, which trees like best.
func sorted(n, valueSize int) func(i int) (key, value []byte) {
	type place struct {
		key    [keys.Size]byte
		number uint32
	}
	order := make([]place, n)
	for i := range order {
		keys.Append(order[i].key[:0], uint64(i))
		order[i].number = uint32(i)
	}
	slices.SortFunc(order, func(a, b place) int { return bytes.Compare(a.key[:], b.key[:]) })
	pair := hybrid.Pair(valueSize)
	return func(i int) ([]byte, []byte) { return pair(int(order[i].number)) }
}

// A hybridCell is one mix of operations.
type hybridCell struct {
	name     string
	sets     int // of 100 operations
	inFlight []int
}

// hybridCells lists what is measured at some times the memory.
func hybridCells(times int64) []hybridCell {
	if times != fullTimes {
		return []hybridCell{{"get", 0, []int{8}}, {"mix", 5, []int{8}}}
	}
	return []hybridCell{{"get", 0, hybridInFlight}, {"mix", 5, hybridInFlight}, {"set", 100, hybridInFlight}}
}

// hybridInFlight are the requests in flight that are measured.
var hybridInFlight = []int{1, 8, 64}

// hybridSlice is the length of one repeat of a cell.
func (j job) hybridSlice() time.Duration {
	if j.Small {
		return 20 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// hybridWarm is how long a store is used before it is measured, in each order.
func (j job) hybridWarm() time.Duration { return 8 * j.hybridSlice() }

func (j job) hybridRepeats() int { return min(j.Repeats, 3) }

func hybridRunGroups(j job) int {
	times, _, err := j.hybridParam()
	if err != nil {
		return 1
	}
	n := 0
	for _, c := range hybridCells(times) {
		n += 2 * len(c.inFlight)
	}
	return n
}

func hybridRunWeight(j job) float64 {
	return float64(hybridRunGroups(j)*(j.hybridRepeats()+1))/1.5*j.hybridSlice().Seconds() + 2*j.hybridWarm().Seconds()
}

// runHybridRun measures a filled store under a limit of memory. Param's number
// is how many times the memory the data is.
func runHybridRun(j job, out *emitter) error {
	times, root, err := j.hybridParam()
	if err != nil {
		return err
	}
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, j.Rival+"-data")
	if _, err := os.Stat(loadedMark(dir)); err != nil {
		return fmt.Errorf("the store was not loaded: %w", err)
	}
	if err := hybrid.DropCache(dir); err != nil {
		return err
	}
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: storeMemory(hybridMemory(j)), DataBytes: j.hybridData(), Readers: 64})
	if err != nil {
		return err
	}
	waitRecovered(s, time.Now())
	for _, order := range []keys.Order{keys.Zipf, keys.Uniform} {
		warm := hybrid.Work{Order: order, InFlight: 8, Entries: j.Entries, ValueSize: j.ValueSize, Time: j.hybridWarm()}
		switch r, err := hybrid.Run(s, warm, 1, false); {
		case err != nil:
			return err
		case r.Misses > r.Gets/2: // its times would say nothing
			return fmt.Errorf("%d of %d Gets of what was loaded found nothing", r.Misses, r.Gets)
		}
		for _, c := range hybridCells(times) {
			for _, inFlight := range c.inFlight {
				cell := fmt.Sprintf("%s/%s/times=%d", c.name, order, times)
				group, err := j.hybridCell(s, cell, hybrid.Work{
					Order: order, Sets: c.sets, InFlight: inFlight, Entries: j.Entries, ValueSize: j.ValueSize, Time: j.hybridSlice(),
				})
				if err != nil {
					return fmt.Errorf("%s: %w", cell, err)
				}
				out.emit(group...)
			}
		}
	}
	return s.Close()
}

// hybridCell repeats one cell; what the device did is summed up over the
// repeats, and over a second for what is left to do.
func (j job) hybridCell(s hybrid.Store, cell string, w hybrid.Work) ([]samples.Sample, error) {
	var out []samples.Sample
	var all hybrid.Result
	before := hybrid.ReadIO()
	for repeat := range j.hybridRepeats() {
		r, err := hybrid.Run(s, w, uint64(2+repeat)*1000, w.Sets > 0 && repeat == j.hybridRepeats()-1)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s/n=%d/value=%d/inflight=%d", cell, j.Entries, w.ValueSize, w.InFlight)
		sample := j.hybridSample(name, "ns/op", repeat, r.Ops, float64(r.Elapsed.Nanoseconds())/float64(r.Ops))
		if sample.Misses = r.Misses; r.Gets > 0 {
			hit := float64(r.Gets-r.Misses) / float64(r.Gets)
			sample.Hit = &hit
		}
		out = append(out, sample)
		all.Ops, all.Sets = all.Ops+r.Ops, all.Sets+r.Sets
	}
	if w.Sets > 0 {
		time.Sleep(j.hybridSlice())
	}
	after := hybrid.ReadIO()
	switch {
	case !after.Known:
	case w.Sets == 100:
		user := float64(all.Sets) * float64(hybrid.KeySize+j.ValueSize)
		out = append(out, j.hybridSample("written/"+cell, "bytes/byte", 0, all.Sets, float64(after.Written-before.Written)/user))
	case w.Sets == 0 && w.InFlight == 8:
		out = append(out, j.hybridSample("read/"+cell, "bytes/op", 0, all.Ops, float64(after.Read-before.Read)/float64(all.Ops)))
	}
	return out, nil
}

// hybridRawBytes is the size of the file that the device is measured with.
func (j job) hybridRawBytes() int64 { return min(j.hybridData(), 2<<30) }

func hybridDeviceWeight(j job) float64 {
	return float64(j.hybridRawBytes())/300e6 + float64(len(hybridInFlight)*j.hybridRepeats())*j.hybridSlice().Seconds()
}

// runHybridDevice measures the disk itself.
func runHybridDevice(j job, out *emitter) (err error) {
	dir, err := freshStore(j, "raw")
	if err != nil {
		return err
	}
	raw, err := hybrid.OpenRaw(dir, j.hybridRawBytes())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	for _, inFlight := range hybridInFlight {
		var group []samples.Sample
		for repeat := range j.hybridRepeats() {
			ops, took, err := raw.Read(inFlight, j.hybridSlice(), uint64(repeat))
			if err != nil {
				return err
			}
			group = append(group, j.hybridSample(fmt.Sprintf("device-read/inflight=%d", inFlight), "ns/op", repeat, ops, float64(took.Nanoseconds())/float64(ops)))
		}
		out.emit(group...)
	}
	return nil
}

func hybridFasterGroups(job) int { return len(hybrid.FasterOps) * len(hybrid.FasterGoroutines) }

// runHybridFaster repeats FasterKvCache's table.
func runHybridFaster(j job, out *emitter) error {
	dir, err := freshStore(j, "faster")
	if err != nil {
		return err
	}
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return err
	}
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: hybrid.FasterMemory, DataBytes: hybrid.FasterKeys * hybrid.FasterValueSize, Readers: 8})
	if err != nil {
		return err
	}
	if err := s.Load(hybrid.FasterKeys, hybrid.Pair(hybrid.FasterValueSize)); err != nil {
		return err
	}
	for _, op := range hybrid.FasterOps {
		for _, goroutines := range hybrid.FasterGoroutines {
			var group []samples.Sample
			for repeat := range j.Repeats {
				took, misses, err := hybrid.Faster(s, op.Sets, goroutines, uint64(repeat)*100)
				if err != nil {
					return err
				}
				sample := j.hybridSample(fmt.Sprintf("faster/%s/goroutines=%d", op.Name, goroutines), "µs/1000ops", repeat, int64(goroutines)*1000, float64(took.Nanoseconds())/1e3)
				sample.Misses = misses
				group = append(group, sample)
			}
			out.emit(group...)
		}
	}
	return s.Close()
}

func hybridRestartWeight(j job) float64 {
	size, _, err := j.hybridParam()
	if err != nil {
		return 1
	}
	return 2 + float64(size)/120e6
}

// restartJob is j with as many entries as make the size that Param asks for.
func restartJob(j job) (job, string, error) {
	size, root, err := j.hybridParam()
	j.Entries = int(size / (keys.Size + restartValueSize))
	return j, filepath.Join(root, j.Rival+"-restart"), err
}

// openRestart opens the store of a restart.
func openRestart(j job, dir string) (hybrid.Store, error) {
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return nil, err
	}
	data := int64(j.Entries) * (keys.Size + restartValueSize)
	return e.Open(hybrid.Config{Dir: dir, Memory: loadMemory(data), DataBytes: data, Readers: 1})
}

// runHybridRestart fills a store, closes it, and measures the time from opening
// it to the first answer; then the same after a process that wrote to it was
// killed. Param's number is the bytes of data. The page cache stays warm.
func runHybridRestart(j job, out *emitter) error {
	size, _, err := j.hybridParam()
	if err != nil {
		return err
	}
	if _, err := freshStore(j, "restart"); err != nil {
		return err
	}
	what := fmt.Sprintf("size=%dMB", size>>20)
	for _, after := range []string{afterClose, afterKill} {
		if err := runWriter(j, after); err != nil {
			return fmt.Errorf("writer before %s: %w", after, err)
		}
		rj, dir, err := restartJob(j)
		if err != nil {
			return err
		}
		s, again, err := firstAnswer(rj, dir)
		if err != nil {
			return fmt.Errorf("open after %s: %w", after, err)
		}
		sample := j.hybridSample("restart/"+after+"/"+what, "s", 0, 1, again.answered.Seconds())
		sample.Hit, sample.Dropped = &again.hit, int64(float64(restartReads)*(1-again.hit)+0.5)
		out.emit(sample)
		out.emit(j.hybridSample("restart-open/"+after+"/"+what, "s", 0, 1, again.opened.Seconds()))
		if again.recovered > 0 {
			out.emit(j.hybridSample("restart-recovered/"+after+"/"+what, "s", 0, 1, again.recovered.Seconds()))
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// The two ends of a process that a store is opened after.
const (
	afterClose = "close"
	afterKill  = "kill"
)

// Entries are looked for after a restart until all are there, for a while.
const (
	restartReads = 100
	restartWait  = 30 * time.Second
)

// A restart is how long a store took to be there again, from the call of Open.
type restart struct {
	opened    time.Duration // until that returned
	answered  time.Duration // until the sample was found
	recovered time.Duration // until all was found; 0: opened, or not within restartWait
	hit       float64       // share of the sample that was found
}

// firstAnswer opens a store and reads an even sample of the entries, until all
// were found: a store may answer with misses while it still recovers. Entries
// that the killed process overwrote are not in the sample: they may be lost with
// what was only in memory.
func firstAnswer(j job, dir string) (s hybrid.Store, r restart, err error) {
	pair := hybrid.Pair(restartValueSize)
	began := time.Now()
	if s, err = openRestart(j, dir); err != nil {
		return nil, r, err
	}
	r.opened = time.Since(began)
	hits := 0
	for i := 0; i < restartReads; {
		key, _ := pair(overwriteEvery*(i*(j.Entries/overwriteEvery)/restartReads) + 1)
		_, ok, err := s.Get(nil, key)
		if err != nil {
			return s, r, err
		}
		if ok {
			hits++
		} else if time.Since(began) < restartWait {
			time.Sleep(time.Millisecond)
			continue
		}
		i++
	}
	r.answered, r.hit = time.Since(began), float64(hits)/restartReads
	if waitRecovered(s, began) {
		r.recovered = time.Since(began)
	}
	return s, r, nil
}

// waitRecovered waits until a store that serves before it has found everything
// has done so. It reports false if it had not by the time that a restart may take,
// or is no such store.
func waitRecovered(s hybrid.Store, began time.Time) bool {
	store, ok := s.(hybrid.Recoverer)
	for ok && !store.Recovered() && time.Since(began) < restartWait {
		time.Sleep(time.Millisecond)
	}
	return ok && store.Recovered()
}

// runWriter runs the process that writes to the store, and ends it: it closes
// the store, or it is killed when it has written.
func runWriter(j job, after string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	size, root, err := j.hybridParam()
	if err != nil {
		return err
	}
	j.Kind, j.Param = "hybrid-writer", param(size, after+":"+root)
	cmd := exec.Command(self, j.args()...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		return errors.Join(err, cmd.Wait())
	}
	if after == afterKill {
		if err := cmd.Process.Kill(); err != nil {
			return err
		}
		_ = cmd.Wait() // it was killed
		return nil
	}
	if err := in.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

// overwriteEvery tells which entries are overwritten before the kill: those
// whose numbers are its multiples.
const overwriteEvery = 100

// runHybridWriter fills a store that will be closed, or overwrites some entries
// of one before the kill. It says with a byte that it is done, and waits for its
// end. Param is NUMBER:close:DIRECTORY, or kill.
func runHybridWriter(j job, out *emitter) error {
	size, rest, err := j.hybridParam()
	if err != nil {
		return err
	}
	after, root, _ := strings.Cut(rest, ":")
	j.Param = param(size, root)
	j, dir, err := restartJob(j)
	if err != nil {
		return err
	}
	// Who started this process ends it by closing its input, also before it is done.
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
		if !done.Load() {
			os.Exit(1)
		}
	}()
	s, err := openRestart(j, dir)
	if err != nil {
		return err
	}
	if after == afterClose {
		err = s.Load(j.Entries, sorted(j.Entries, restartValueSize))
	}
	pair := hybrid.Pair(restartValueSize)
	for i := 0; err == nil && after == afterKill && i < j.Entries; i += overwriteEvery {
		err = s.Set(pair(i))
	}
	if err != nil {
		return err
	}
	done.Store(true)
	if _, err := out.w.Write([]byte{'\n'}); err != nil {
		return err
	}
	<-ended
	return s.Close()
}
