package aio

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

var (
	benchDir  = flag.String("benchdir", "", "directory of the benchmark's file, on the disk to measure; none: the temporary one")
	benchSize = flag.Int64("benchsize", 64<<20, "bytes of the benchmark's file")
)

// BenchmarkRead reads random places of a file past the page cache: reads alone
// from 1, 8 and 64 goroutines, and batches of 32 from 1 and 4, with contexts that
// cannot end and that can. For figures that mean something:
//
//	go test -bench Read -run '^$' -benchdir /on/the/ssd -benchsize 4294967296 ./internal/aio
func BenchmarkRead(b *testing.B) {
	f := benchmarkFile(b)
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	type load struct{ goroutines, batch int }
	for _, size := range []int{512, 4096} {
		for _, l := range []load{{1, 1}, {8, 1}, {64, 1}, {1, 32}, {4, 32}} {
			for name, mode := range map[string]Mode{"pread": Pread, "ring": Ring, "libaio": LibAIO} {
				for ending, ctx := range map[string]context.Context{"": context.Background(), "/cancellable": cancellable} {
					b.Run(fmt.Sprintf("size=%d/goroutines=%d/batch=%d/mode=%s%s", size, l.goroutines, l.batch, name, ending), func(b *testing.B) {
						benchmarkReads(b, ctx, Config{File: f, Mode: mode}, size, l.goroutines, l.batch)
					})
				}
			}
		}
	}
}

func benchmarkReads(b *testing.B, ctx context.Context, cfg Config, size, goroutines, batch int) {
	r, err := Open(cfg)
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	places := *benchSize / int64(size)
	var left atomic.Int64
	left.Store(int64(b.N))
	cpu := cpuTime(b)
	b.ResetTimer()
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			reqs := make([]Request, batch)
			for left.Add(-int64(batch)) > -int64(batch) {
				for i := range reqs {
					reqs[i] = Request{Off: rand.Int64N(places) * int64(size), N: size}
				}
				if batch == 1 {
					reqs[0].Buf, reqs[0].Err = r.Read(ctx, reqs[0].Off, size)
				} else {
					r.ReadMany(ctx, reqs)
				}
				for _, q := range reqs {
					if q.Err != nil {
						b.Error(q.Err)
						return
					}
					q.Buf.Release()
				}
			}
		})
	}
	wg.Wait()
	s := r.Stats()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(s.Reads)/b.Elapsed().Seconds(), "reads/s")
	b.ReportMetric(float64(cpuTime(b)-cpu)/1e3/float64(s.Reads), "cpu-µs/read")
	b.ReportMetric(float64(s.Latency.Quantile(0.5))/1e3, "p50-µs")
	b.ReportMetric(float64(s.Latency.Quantile(0.999))/1e3, "p99.9-µs")
}

// cpuTime is what the process has used of the processors.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchmarkFile(b *testing.B) vfs.File {
	dir, err := os.MkdirTemp(*benchDir, "aio-*")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	fs, err := vfs.OS(dir)
	if err != nil {
		b.Fatal(err)
	}
	f, err := fs.Open("data", vfs.OpenOptions{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	for off := int64(0); off < *benchSize; off += int64(len(content)) {
		if _, err := f.WriteAt(content[:min(int64(len(content)), *benchSize-off)], off); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	f.Close()
	direct, err := fs.Open("data", vfs.OpenOptions{ReadOnly: true, Direct: true})
	if err != nil {
		b.Logf("the page cache takes part: %v", err)
		if direct, err = fs.Open("data", vfs.OpenOptions{ReadOnly: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { direct.Close() })
	return direct
}
