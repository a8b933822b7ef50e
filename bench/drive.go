package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/shared"
)

// A driver runs jobs in child processes, one after the other, and keeps what
// they measure.
type driver struct {
	options  options
	command  string    // the command line
	progress io.Writer // a line for each cell
	began    time.Time
	total    float64 // expected seconds of all jobs
	done     float64 // expected seconds of the finished ones
}

// work is the list of jobs of one suite.
type work struct {
	suite string
	jobs  []job
	notes []string
}

// prepare lists all jobs and finds out what would make one fail, before time is
// spent.
func (d *driver) prepare() ([]work, error) {
	var all []work
	for _, name := range d.options.Suites {
		if err := find(name).check(d.options); err != nil {
			return nil, fmt.Errorf("suite %s: %w", name, err)
		}
		jobs, err := d.options.jobs(name)
		if err != nil {
			return nil, fmt.Errorf("suite %s: %w", name, err)
		}
		w := work{suite: name}
		if w.jobs, w.notes, err = checkMemory(jobs); err != nil {
			return nil, err
		}
		for _, j := range w.jobs {
			d.total += j.weight()
		}
		all = append(all, w)
	}
	return all, nil
}

// run runs the suites asked for and saves the results of each as soon as it ends.
func (d *driver) run() error {
	all, err := d.prepare()
	if err != nil {
		return err
	}
	fmt.Fprintf(d.progress, "%d suites, about %s on a quiet machine with two processors\n", len(all), short(time.Duration(d.total*float64(time.Second))))
	d.began = time.Now()
	for _, w := range all {
		if err := d.runSuite(w); err != nil {
			return fmt.Errorf("suite %s: %w", w.suite, err)
		}
	}
	return nil
}

func (d *driver) runSuite(w work) (err error) {
	r := samples.Run{
		Suite: w.suite, Command: ofSuite(d.command, w.suite), Notes: w.notes,
		Started: time.Now().UTC(), Entries: d.options.Entries, Repeats: d.options.Repeats,
		Machine: samples.ThisMachine(), Versions: make(map[string]string), Logs: make(map[string]string),
	}
	if clean := find(w.suite).clean; clean != nil {
		defer func() { err = errors.Join(err, clean(d.options)) }()
	}
	watch := samples.NewWatch()
	for _, note := range w.notes {
		fmt.Fprintf(d.progress, "%s: %s\n", w.suite, note)
	}
	for _, j := range w.jobs {
		part, log, err := d.runJob(j)
		if k := kinds[j.Kind]; err != nil && (k.limit != nil || k.cutOff) {
			r.Notes = append(r.Notes, j.endedEarly(len(part), err))
			fmt.Fprintf(d.progress, "%s: %s\n", w.suite, r.Notes[len(r.Notes)-1])
			err = nil
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", j.Kind, j.Rival, err)
		}
		if name := kinds[j.Kind].log; name != "" && log != "" {
			r.Logs[name+" "+j.Rival] = kinds[j.Kind].keep(log)
		}
		r.Samples = append(r.Samples, part...)
	}
	if finish := find(w.suite).finish; finish != nil {
		more, notes := finish(r.Samples)
		r.Samples, r.Notes = append(r.Samples, more...), append(r.Notes, notes...)
	}
	r.Noise = watch.Noise()
	r.Seconds = time.Since(r.Started).Seconds()
	r.Versions = versions(r.Samples)
	if len(r.Logs) == 0 {
		r.Logs = nil
	}
	return r.Save(d.options.Out)
}

// endedEarly names the missing part of a job, and the reason.
func (j job) endedEarly(figures int, err error) string {
	text := fmt.Sprintf("%s (%s) of %s ended early, with %d figures: %v.", j.Kind, j.Param, j.Rival, figures, err)
	if limit := kinds[j.Kind].limit; limit != nil && limit(j) > 0 {
		text += fmt.Sprintf(" It had %.0f MiB of memory; a process that needs more than the limit is killed.", float64(limit(j))/(1<<20))
	}
	return text
}

// ofSuite is the command that runs one of the suites that were asked for.
func ofSuite(command, name string) string {
	command = strings.Replace(command, "-suite all", "-suite "+name, 1)
	return strings.Replace(command, "-suite quick", fmt.Sprintf("-suite %s -n %d -repeats %d", name, quickEntries, quickRepeats), 1)
}

// versions lists those of all caches that have samples.
func versions(all []samples.Sample) map[string]string {
	v := make(map[string]string)
	for _, s := range all {
		if v[s.Cache] == "" {
			v[s.Cache] = versionOf(s.Cache)
		}
	}
	return v
}

func versionOf(cache string) string {
	if i := slices.IndexFunc(rivals.All, func(r rivals.Rival) bool { return r.Name == cache }); i >= 0 {
		return rivals.All[i].Version()
	}
	if cache == hybrid.Device {
		return "–"
	}
	if module := shared.Modules[cache]; module != "" {
		return rivals.Rival{Module: module}.Version()
	}
	if e, err := hybrid.Find(cache); err == nil && e.Module != "" {
		return rivals.Rival{Module: e.Module}.Version()
	}
	return "this tree"
}

// runJob runs one child process to its end. It returns the samples, and
// the output on stderr if its kind has a log.
func (d *driver) runJob(j job) ([]samples.Sample, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	k := kinds[j.Kind]
	ctx := context.Background()
	if k.cutOff {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.mostTime())
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, self, j.args()...)
	var log bytes.Buffer
	cmd.Stderr = os.Stderr
	if k.log != "" {
		cmd.Stderr = &log
	}
	cmd.Env = os.Environ()
	if k.env != nil {
		cmd.Env = append(cmd.Env, k.env(j)...)
	}
	if k.limit != nil {
		done, env := limitMemory(k.limit(j))
		defer done()
		cmd.Env = append(cmd.Env, env...)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	all, readErr := d.collect(j, stdout)
	d.done += j.weight()
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return all, "", fmt.Errorf("cut off after %s", short(j.mostTime()))
		}
		return all, "", fmt.Errorf("%w %s", err, lastLine(log.String()))
	}
	return all, log.String(), readErr
}

// limitMemory returns the variables that limit the memory of a child process,
// and what to call when it has ended. Where control groups are not to be had,
// only Go's own limit holds; hybridNotes says so.
func limitMemory(bytes int64) (done func(), env []string) {
	env = []string{fmt.Sprintf("GOMEMLIMIT=%d", bytes*4/5)}
	g, err := hybrid.NewGroup(bytes)
	if err != nil {
		return func() {}, env
	}
	return func() { _ = g.Remove() }, append(env, g.Env())
}

// lastLine is the last line that a child printed, where its output was kept.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// collect reads the groups of samples that the child writes, and prints a line
// for each.
func (d *driver) collect(j job, child io.Reader) ([]samples.Sample, error) {
	var all []samples.Sample
	began := time.Now()
	lines := bufio.NewReader(child)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		var group []samples.Sample
		if err := json.Unmarshal(line, &group); err != nil {
			return all, fmt.Errorf("result %q: %w", line, err)
		}
		if len(group) == 0 {
			continue
		}
		all = append(all, group...)
		fmt.Fprintf(d.progress, "%s  %-11s %s\n", d.clock(j, time.Since(began)), j.Suite, describe(group))
	}
}

// clock tells the time since the start, and the time left if the rest of the
// work takes as long as was expected, corrected by the time of the work so far.
// The job under way has taken some time.
func (d *driver) clock(j job, taken time.Duration) string {
	share := (d.done + min(taken.Seconds(), j.weight())) / d.total
	elapsed := time.Since(d.began)
	left := time.Duration(float64(elapsed) * (1 - share) / share)
	return fmt.Sprintf("[%5s, %5s left]", short(elapsed), short(left))
}

// short prints minutes and seconds.
func short(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// describe sums a group up: the ratio of a pair, or the value of a single
// measurement.
func describe(group []samples.Sample) string {
	s := group[0]
	if s.Against == "" || len(group) < 2 {
		v := samples.Values(samples.Select(group, samples.Filter{Name: s.Name, Cache: s.Cache}))
		return fmt.Sprintf("%-52s %-10s %.4g %s", s.Name, s.Cache, v.Median, s.Unit)
	}
	first := samples.Values(samples.Select(group, samples.Filter{Name: s.Name, Cache: s.Cache}))
	second := samples.Values(samples.Select(group, samples.Filter{Name: s.Name, Cache: s.Against}))
	if s.Unit != "ns/op" {
		return fmt.Sprintf("%-52s %s %.4g, %s %.4g %s", s.Name, s.Cache, first.Median, s.Against, second.Median, s.Unit)
	}
	ratio := samples.Ratio(group, s.Suite, s.Name, s.Against)
	return fmt.Sprintf("%-52s %s %.4g, %s %.4g %s: ×%.2f (%.2f–%.2f)",
		s.Name, s.Cache, first.Median, s.Against, second.Median, s.Unit, ratio.Median, ratio.Low, ratio.High)
}
