package memory

import (
	"testing"
	"testing/fstest"
	"time"
)

const (
	meminfo   = "MemTotal:       1000 kB\nMemFree:   100 kB\nMemAvailable:    600 kB\n"
	mountsV1  = "31 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
	mountsV2  = "35 31 0:32 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	inDocker  = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	none      = "9223372036854771712\n"
	statV1    = "cache 9\ninactive_file 1\ntotal_inactive_file 30000\ntotal_active_file 20000\ntotal_dirty 6000\ntotal_writeback 4000\ntotal_rss 50000\ntotal_inactive_anon 60000\ntotal_active_anon 3000\ntotal_shmem 6000\n"
	statV2    = "anon 50000\ninactive_anon 130000\nactive_anon 3000\ninactive_file 30000\nactive_file 20000\nslab_reclaimable 5000\nfile_dirty 6000\nfile_writeback 4000\nshmem 70000\n"
	stalledV2 = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
)

// tree is a file system with the machine's memory and some files more.
func tree(files map[string]string) System {
	t := fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}
	for name, content := range files {
		t[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return System{t}
}

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  Usage
	}{
		"no groups": {nil, Usage{1024000, "/proc/meminfo", 614400, 0}},
		"pressure of the machine": {map[string]string{"proc/pressure/memory": stalledV2},
			Usage{1024000, "/proc/meminfo", 614400, 1500 * time.Microsecond}},
		"version 1, limited above": {map[string]string{
			"proc/self/cgroup":    "5:cpu:/\n4:memory:/pods/a\n0::/\n",
			"proc/self/mountinfo": mountsV1,
			"sys/fs/cgroup/memory/pods/a/memory.limit_in_bytes": none,
			"sys/fs/cgroup/memory/pods/a/memory.usage_in_bytes": "100000\n",
			"sys/fs/cgroup/memory/pods/memory.limit_in_bytes":   "500000\n",
			"sys/fs/cgroup/memory/pods/memory.usage_in_bytes":   "300000\n",
			"sys/fs/cgroup/memory/pods/memory.stat":             statV1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes":        none,
		}, Usage{500000, "/sys/fs/cgroup/memory/pods/memory.limit_in_bytes", 247000, 0}},
		"version 1, mounted from within": {map[string]string{
			"proc/self/cgroup":                           "4:cpu,memory:/docker/abc\n",
			"proc/self/mountinfo":                        inDocker,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "500000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "100000\n",
		}, Usage{500000, "/sys/fs/cgroup/memory/memory.limit_in_bytes", 400000, 0}},
		"version 2, high below max": {map[string]string{
			"proc/self/cgroup":                  "0::/svc\n",
			"proc/self/mountinfo":               mountsV2,
			"sys/fs/cgroup/svc/memory.max":      "600000\n",
			"sys/fs/cgroup/svc/memory.high":     "500000\n",
			"sys/fs/cgroup/svc/memory.current":  "300000\n",
			"sys/fs/cgroup/svc/memory.stat":     statV2,
			"sys/fs/cgroup/svc/memory.pressure": stalledV2,
		}, Usage{500000, "/sys/fs/cgroup/svc/memory.high", 258000, 1500 * time.Microsecond}},
		"version 2, nearest above": {map[string]string{
			"proc/self/cgroup":                     "0::/pod/svc\n",
			"proc/self/mountinfo":                  mountsV2,
			"sys/fs/cgroup/pod/svc/memory.max":     "400000\n",
			"sys/fs/cgroup/pod/svc/memory.high":    "max\n",
			"sys/fs/cgroup/pod/svc/memory.current": "100000\n",
			"sys/fs/cgroup/pod/memory.max":         "800000\n",
			"sys/fs/cgroup/pod/memory.current":     "700000\n",
		}, Usage{400000, "/sys/fs/cgroup/pod/svc/memory.max", 100000, 0}},
		"version 2, of another namespace": {map[string]string{
			"proc/self/cgroup":             "0::/../other\n",
			"proc/self/mountinfo":          mountsV2,
			"sys/fs/cgroup/memory.max":     "300000\n",
			"sys/fs/cgroup/memory.current": "1000\n",
		}, Usage{300000, "/sys/fs/cgroup/memory.max", 299000, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tree(c.files).Usage(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestUsageUnknown(t *testing.T) {
	if got := (System{fstest.MapFS{}}).Usage(); got != (Usage{}) {
		t.Errorf("%+v of a system without files", got)
	}
}

func BenchmarkUsage(b *testing.B) {
	for b.Loop() {
		Machine.Usage()
	}
}
