//go:build linux

package stress

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/firncache/firn/remote/internal/faultproxy"
)

// fault is what befalls a round.
type fault struct {
	name  string
	loses bool // the server may forget
	do    func(f *field)
}

// faults are all, in the order in which the rounds take them.
var faults = []fault{
	{"none", false, func(*field) {}},
	{"a black hole to a process", false, func(f *field) { f.during(hold(faultproxy.ToClient)) }},
	{"a black hole to the server", false, func(f *field) { f.during(hold(faultproxy.ToServer)) }},
	{"a black hole both ways", false, func(f *field) {
		f.during(func(p *faultproxy.Proxy) { p.Hold(faultproxy.ToServer); p.Hold(faultproxy.ToClient) })
	}},
	{"a network that is slow", false, func(f *field) {
		f.during(func(p *faultproxy.Proxy) { p.Delay(faultproxy.ToClient, 20*time.Millisecond) })
	}},
	{"connections refused", false, func(f *field) { f.during(func(p *faultproxy.Proxy) { p.Refuse(); p.Reset() }) }},
	{"resets", false, func(f *field) { f.storm(func() { f.victim().proxy.Reset() }) }},
	{"cuts within a frame", false, func(f *field) {
		f.storm(func() { f.victim().proxy.Cut(faultproxy.ToClient, 1+f.rng.IntN(5000)) })
	}},
	{"cuts within a command", false, func(f *field) {
		f.storm(func() { f.victim().proxy.Cut(faultproxy.ToServer, 1+f.rng.IntN(5000)) })
	}},
	{"CLIENT KILL", false, func(f *field) { f.storm(func() { f.server.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }) }},
	{"kill -9 of a process", false, func(f *field) { f.killChild() }},
	{"a server that stands still", false, func(f *field) {
		f.server.Freeze()
		f.pause(3 * f.bound)
		f.server.Thaw()
	}},
	{"kill -9 of the server, which keeps its data", false, func(f *field) {
		f.server.Kill()
		f.pause(f.bound)
		f.server.Restart()
	}},
	{"an output buffer's limit", false, func(f *field) {
		f.server.Do("CONFIG", "SET", "client-output-buffer-limit", "normal 32kb 0 0")
		f.during(hold(faultproxy.ToClient))
		f.server.Do("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
	}},
	{"FLUSHALL", true, func(f *field) { f.storm(func() { f.loss(func() { f.server.Do("FLUSHALL") }) }) }},
	{"FLUSHDB of another database", false, func(f *field) { f.otherDatabase() }},
	{"a restart with an empty server", true, func(f *field) {
		f.loss(func() {
			f.server.Kill()
			for _, name := range []string{"appendonlydir", "appendonly.aof"} { // the latter before Redis 7
				if err := os.RemoveAll(filepath.Join(f.server.Dir, name)); err != nil {
					f.t.Fatal(err)
				}
			}
			f.server.Restart()
		})
	}},
	{"eviction by the server", true, func(f *field) {
		f.truth.pause(true)
		f.memory("allkeys-lru")
		f.truth.pause(false)
	}},
	{"a server that is full", false, func(f *field) { f.memory("noeviction") }},
}

// beyond are faults that the bound does not hold for, to be asked for by name: a process that
// is stopped for longer than half the bound answers with older copies until its clock runs.
var beyond = []fault{
	{"a process that stands still", false, func(f *field) {
		c := f.victim()
		c.signal(f.t, syscall.SIGSTOP)
		f.pause(3 * f.bound)
		c.signal(f.t, syscall.SIGCONT)
	}},
}

func hold(d faultproxy.Direction) func(*faultproxy.Proxy) {
	return func(p *faultproxy.Proxy) { p.Hold(d) }
}

// victim is one of the processes.
func (f *field) victim() *child { return f.children[f.rng.IntN(processes)] }

// pause lasts: a fault that is over before the bound shows nothing.
func (f *field) pause(d time.Duration) { time.Sleep(d) }

// during breaks one process's network for three bounds.
func (f *field) during(breaks func(*faultproxy.Proxy)) {
	p := f.victim().proxy
	breaks(p)
	f.pause(3 * f.bound)
	p.Heal()
}

// storm does something again and again, some reads apart.
func (f *field) storm(do func()) {
	for range 8 {
		do()
		f.awaitReads(f.perRound / 40)
	}
	for _, c := range f.children {
		c.proxy.Heal()
	}
}

// killChild kills a process, and starts it over the directory that it had.
func (f *field) killChild() {
	c := f.victim()
	c.kill()
	f.checker.born(int(c.setting.Process))
	f.awaitReads(f.perRound / 10)
	c.start(f.t)
	c.tell(f.t, f.running)
}

// loss notes that the server forgets in the meantime.
func (f *field) loss(do func()) {
	from := now()
	do()
	f.lost = append(f.lost, record{Kind: kindWrite, Op: opLoss, From: from, To: now()})
}

func (f *field) otherDatabase() {
	conn, err := f.server.Dial()
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	for _, command := range [][]string{{"SELECT", "3"}, {"SET", "stress:kkey-00001", "nobody's"}, {"FLUSHDB"}} {
		if _, err := conn.Do(command...); err != nil {
			f.t.Fatal(err)
		}
	}
}

// memory leaves the server little room for a while.
func (f *field) memory(policy string) {
	f.server.Do("CONFIG", "SET", "maxmemory-policy", policy)
	f.server.Do("CONFIG", "SET", "maxmemory", "3mb")
	f.awaitReads(f.perRound / 3)
	f.server.Do("CONFIG", "SET", "maxmemory", "0")
}
