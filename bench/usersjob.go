package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/users"
)

// usersTurn is the length of a turn.
func (j job) usersTurn() time.Duration {
	if j.Small {
		return 2 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// usersSetup is the time, in seconds, that filling the stores of one workload takes.
const usersSetup = 4

// usersRivals lists the stores that can take part, beside firn.
func usersRivals() []string {
	var names []string
	for _, t := range users.Tables {
		for _, w := range users.Workloads {
			names = append(names, users.Stores(w, t)...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == rivals.Firn || name == users.Hot })
}

// usersJobs makes one job for each workload and table. Its Param names them and
// the rivals.
func usersJobs(_ options, taking []string, add func(job)) error {
	for _, w := range users.Workloads {
		for _, t := range users.Tables {
			add(job{Kind: "users", Rival: rivals.Firn, Param: w.Name + "/" + string(t) + "/" + strings.Join(taking, ",")})
		}
	}
	return nil
}

// usersWork is what the job's Param names.
func (j job) usersWork() (w users.Workload, t users.Table, stores []string) {
	part := strings.SplitN(j.Param, "/", 3)
	w, t = users.Find(part[0]), users.Table(part[1])
	if j.Small {
		w = w.Small()
	}
	taking := append(strings.Split(part[2], ","), rivals.Firn, users.Hot)
	return w, t, slices.DeleteFunc(users.Stores(w, t), func(name string) bool { return !slices.Contains(taking, name) })
}

func usersWeight(j job) float64 {
	_, _, stores := j.usersWork()
	w := float64(len(stores)*(j.Repeats+1)) * j.usersTurn().Seconds()
	if !j.Small {
		w += usersSetup
	}
	return w
}

// usersMemory counts twice what lies on the heap, and the keys and sequences.
func usersMemory(j job) int64 {
	w, _, stores := j.usersWork()
	return int64(len(stores)) * (2*w.Budget + 1<<27)
}

// runUsers lets the stores of one workload take turns, each in a process of its
// own: one process has one heap, whose collector is the store's and the program's.
// All but the one whose turn it is are stopped, so that none works in another's
// time.
func runUsers(j job, out *emitter) (err error) {
	_, _, stores := j.usersWork()
	var procs []*usersProcess
	defer func() {
		for _, p := range procs {
			err = errors.Join(err, p.end())
		}
	}()
	for _, name := range stores {
		p, err := j.startUsers(name)
		if err != nil {
			return err
		}
		procs = append(procs, p)
	}
	for _, p := range procs {
		if _, err := p.read(); err != nil { // it is filled
			return err
		}
	}
	var all []samples.Sample
	for repeat := -1; repeat < j.Repeats; repeat++ { // the first warms up
		for _, p := range procs {
			group, err := p.turn()
			if err != nil {
				return err
			}
			if repeat >= 0 {
				all = append(all, group...)
			}
		}
	}
	for _, p := range procs {
		group, err := p.cost()
		if err != nil {
			return err
		}
		all = append(all, group...)
	}
	out.emit(all...)
	return nil
}

// A usersProcess is a store in a process of its own. A line to it begins a turn, and
// no more lines end it.
type usersProcess struct {
	name   string
	cmd    *exec.Cmd
	orders io.WriteCloser
	lines  *bufio.Reader
}

func (j job) startUsers(name string) (*usersProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	j.Kind, j.Cells = "users-store", allCells
	j.Param += "/" + name
	cmd := exec.Command(self, j.args()...)
	cmd.Stderr = os.Stderr
	endsWithThis(cmd)
	p := &usersProcess{name: name, cmd: cmd}
	if p.orders, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = bufio.NewReader(stdout)
	return p, cmd.Start()
}

// read reads a group of samples. The process then stands still.
func (p *usersProcess) read() (group []samples.Sample, err error) {
	line, err := p.lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &group)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return group, stopProcess(p.cmd.Process)
}

func (p *usersProcess) turn() ([]samples.Sample, error) {
	if err := continueProcess(p.cmd.Process); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(p.orders, "turn\n"); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return p.read()
}

// cost ends the turns.
func (p *usersProcess) cost() ([]samples.Sample, error) {
	if err := continueProcess(p.cmd.Process); err != nil {
		return nil, err
	}
	if err := p.orders.Close(); err != nil {
		return nil, err
	}
	return p.read()
}

func (p *usersProcess) end() error {
	_ = p.orders.Close()
	if err := continueProcess(p.cmd.Process); err != nil {
		return err
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// runUsersStore is the process of one store.
func runUsersStore(j job, out *emitter) error {
	at := strings.LastIndexByte(j.Param, '/')
	name := j.Param[at+1:]
	j.Param = j.Param[:at]
	w, t, _ := j.usersWork()
	r, err := users.Start(w, t, name)
	if err != nil {
		return err
	}
	m := measured{j: j, prefix: w.Name + "/" + string(t) + "/", cache: name}
	out.emit() // filled
	orders := bufio.NewScanner(os.Stdin)
	for repeat := -1; orders.Scan(); repeat++ {
		if repeat == 0 {
			r.Begin()
		}
		turn := r.Turn(j.usersTurn())
		if turn.Wrong > 0 {
			return fmt.Errorf("%s: %d values of %d were not those of their keys", name, turn.Wrong, turn.Hits)
		}
		out.emit(m.turn(w, repeat, turn)...)
	}
	out.emit(m.cost(w, r.End())...)
	return orders.Err()
}

// measured makes samples of one store's figures.
type measured struct {
	j             job
	prefix, cache string
}

func (m measured) sample(name string, repeat int, value float64, unit string) samples.Sample {
	s := samples.Sample{Suite: m.j.Suite, Name: m.prefix + name, Cache: m.cache, Repeat: repeat, Ops: 1, Value: value, Unit: unit}
	if m.cache != rivals.Firn {
		s.Against = rivals.Firn
	}
	return s
}

// turn makes samples of a turn: an entry that is missing though it fits was
// dropped.
func (m measured) turn(w users.Workload, repeat int, t users.Turn) []samples.Sample {
	op := m.sample("op", repeat, float64(t.Elapsed.Nanoseconds())/float64(t.Ops), "ns/op")
	hit := float64(t.Hits) / float64(max(t.Reads, 1))
	op.Ops, op.Refused, op.Misses, op.Hit = t.Ops, t.Refused, t.Reads-t.Hits, &hit
	if w.Fits() {
		op.Dropped = op.Misses
	}
	all := []samples.Sample{op, m.sample("cpu", repeat, float64(t.CPU.Nanoseconds())/float64(t.Ops), "ns/op")}
	for _, q := range percentiles {
		if q.at == 99 || q.at == 99.9 {
			all = append(all, m.sample(q.name, repeat, float64(t.Times.ValueAtPercentile(q.at)), "ns"))
		}
	}
	return append(all, m.sample("missing", repeat, 100*(1-hit), "%"))
}

func (m measured) cost(w users.Workload, c users.Cost) []samples.Sample {
	all := []samples.Sample{
		m.sample("gc-share", 0, c.GCShare, "%"), m.sample("gc-cycles", 0, c.GCPerSecond, "1/s"), m.sample("gc-pause", 0, milliseconds(c.PauseMax), "ms"),
		m.sample("heap", 0, mebi(c.Heap), "MiB"), m.sample("resident", 0, mebi(c.Resident), "MiB"),
	}
	if w.TTL > 0 && w.WriteEvery == 0 {
		all = append(all, m.sample("lost", 0, float64(c.Lost), "operations"))
	}
	return all
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }
