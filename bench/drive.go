package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// A driver runs jobs in child processes, one after the other, and keeps what
// they measure.
type driver struct {
	plan     plan
	out      string    // directory for the results
	command  string    // what was typed
	progress io.Writer // a line for each cell
	began    time.Time
	total    float64 // weight of all jobs
	done     float64 // weight of the finished ones
}

// run runs the plan's suites and saves the results of each as soon as it ends.
func (d *driver) run() error {
	var all []job
	for _, suite := range d.plan.Suites {
		all = append(all, d.plan.jobs(suite)...)
	}
	if err := checkMemory(all); err != nil {
		return err
	}
	for _, j := range all {
		d.total += j.weight()
	}
	d.began = time.Now()
	for _, suite := range d.plan.Suites {
		if err := d.runSuite(suite); err != nil {
			return fmt.Errorf("suite %s: %w", suite, err)
		}
	}
	return nil
}

func (d *driver) runSuite(suite string) error {
	r := samples.Run{
		Suite: suite, Command: strings.Replace(d.command, "-suite all", "-suite "+suite, 1),
		Started: time.Now().UTC(), Entries: d.plan.Entries, Repeats: d.plan.Repeats,
		Machine: samples.ThisMachine(), Versions: make(map[string]string),
	}
	for _, rival := range rivals.All {
		if rival.Name == rivals.Firn || slices.Contains(d.plan.Rivals, rival.Name) {
			r.Versions[rival.Name] = rival.Version()
		}
	}
	watch := samples.NewWatch()
	for _, j := range d.plan.jobs(suite) {
		part, err := d.runJob(j)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", j.Kind, j.Rival, err)
		}
		r.Samples = append(r.Samples, part...)
	}
	r.Noise = watch.Noise()
	r.Seconds = time.Since(r.Started).Seconds()
	return r.Save(d.out)
}

// runJob runs one child process to its end.
func (d *driver) runJob(j job) ([]samples.Sample, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, j.args()...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all, readErr := d.collect(j, stdout)
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	d.done += j.weight()
	return all, readErr
}

// collect reads the groups of samples that the child writes, and prints a line
// for each.
func (d *driver) collect(j job, child io.Reader) ([]samples.Sample, error) {
	var all []samples.Sample
	groups := 0
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
		groups++
		fmt.Fprintf(d.progress, "%s  %-7s %s\n", d.clock(j, groups), j.Suite, describe(group))
	}
}

// clock tells the time since the start, and the time left if the rest of the
// work goes as fast as what is done.
func (d *driver) clock(j job, groups int) string {
	part := j.weight() * min(float64(groups)/float64(j.groups()), 1)
	share := (d.done + part) / d.total
	elapsed := time.Since(d.began)
	left := time.Duration(float64(elapsed) * (1 - share) / share)
	return fmt.Sprintf("[%5s, %5s left]", short(elapsed), short(left))
}

// short prints minutes and seconds.
func short(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// groups is the number of groups of samples that the job writes.
func (j job) groups() int {
	switch j.Kind {
	case "pair":
		return len(j.cells()) + 4 // two loads, two checks of what is left
	case "classic":
		return len(classicOps)
	case "memory":
		return 3
	case "churn":
		return 3
	}
	return len(valueSizes)
}

// describe sums a group up: the ratio of a pair, or the value of a single
// measurement.
func describe(group []samples.Sample) string {
	s := group[0]
	if s.Against == "" || len(group) < 2 {
		v := samples.Values(samples.Select(group, samples.Filter{Name: s.Name}))
		return fmt.Sprintf("%-52s %-10s %.4g %s", s.Name, s.Cache, v.Median, s.Unit)
	}
	first := samples.Values(samples.Select(group, samples.Filter{Cache: s.Cache}))
	second := samples.Values(samples.Select(group, samples.Filter{Cache: s.Against}))
	ratio := samples.Ratio(group, s.Suite, s.Name, s.Cache, s.Against)
	return fmt.Sprintf("%-52s %s %.4g, %s %.4g %s: ×%.2f (%.2f–%.2f)",
		s.Name, s.Cache, first.Median, s.Against, second.Median, s.Unit, ratio.Median, ratio.Low, ratio.High)
}
