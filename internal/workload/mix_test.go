package workload

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
)

func TestMix(t *testing.T) {
	t.Parallel()
	mix := DefaultMix()
	mix.Requests, mix.Keys = 1_000_000, mix.Keys/4
	src := mix.Source()
	requests, err := readAll(src)
	if err != nil || int64(len(requests)) != mix.Requests || src.Done() != 1 {
		t.Fatalf("%d requests, done %v, %v", len(requests), src.Done(), err)
	}
	keys := map[uint64]Request{}
	popular := map[uint64]bool{}
	for i := range mix.Keys {
		popular[Scramble(i+1)] = true
	}
	var scans, expiring, bytes float64
	for _, r := range requests {
		if other, ok := keys[r.Key]; ok && other != r {
			t.Fatalf("a key with two sizes or TTLs: %+v, %+v", other, r)
		}
		if r.Size < 32 || r.Size >= 64<<10 || r.TTL > 8 || r.Write {
			t.Fatalf("%+v", r)
		}
		if !popular[r.Key] {
			scans++
		}
		keys[r.Key] = r
	}
	for _, r := range keys {
		bytes += float64(r.Size)
		if r.TTL > 0 {
			expiring++
		}
	}
	n := float64(len(keys))
	for _, check := range []struct {
		name      string
		got, want float64
	}{
		{"share of scans", scans / float64(len(requests)), 0.15},
		{"share of expiring keys", expiring / n, 0.2},
		{"mean size", bytes / n / 1100, 1},
	} {
		if math.Abs(check.got-check.want)/check.want > 0.1 {
			t.Errorf("%s: got %v, want about %v", check.name, check.got, check.want)
		}
	}
}

func TestMixIsDeterministic(t *testing.T) {
	read := func(seed uint64) []Request {
		mix := DefaultMix()
		mix.Requests, mix.Seed = 20_000, seed
		requests, err := readAll(mix.Source())
		if err != nil {
			t.Fatal(err)
		}
		return requests
	}
	if !slices.Equal(read(3), read(3)) {
		t.Error("one seed gives two sequences")
	}
	if slices.Equal(read(3), read(4)) {
		t.Error("two seeds give one sequence")
	}
}

func TestAppendKey(t *testing.T) {
	lengths := map[int]int{}
	seen := map[string]bool{}
	for id := range uint64(100_000) {
		key := AppendKey([]byte("x"), id)[1:]
		if len(key) != KeyLen(id) || seen[string(key)] {
			t.Fatalf("id %d: key %x of %d bytes, seen %v", id, key, len(key), seen[string(key)])
		}
		seen[string(key)] = true
		lengths[len(key)]++
	}
	for n := MinKeyLen; n <= MaxKeyLen; n++ {
		if share := float64(lengths[n]) / 100_000 * 9; share < 0.9 || share > 1.1 {
			t.Errorf("%d keys of %d bytes", lengths[n], n)
		}
	}
	if len(lengths) != MaxKeyLen-MinKeyLen+1 {
		t.Errorf("lengths %v", lengths)
	}
}

func TestMeasure(t *testing.T) {
	src, err := openBytes("a.csv", "", []byte("key,size\na,10\nb,0\na,99\nb,7\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := Measure(context.Background(), src, 1000)
	keys := int64(KeyLen(hashBytes([]byte("a"))) + KeyLen(hashBytes([]byte("b"))))
	if want := (WorkingSet{Requests: 4, Keys: 2, Bytes: keys + 10 + 1000}); set != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", set, err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, DefaultMix().Source(), 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLimit(t *testing.T) {
	for _, n := range []int64{1, 10, 40, 50} {
		s := samples(40)[0]
		src, err := openBytes(s.name, "", s.data)
		if err != nil {
			t.Fatal(err)
		}
		src = Limit(src, n)
		got, err := readAll(src)
		if err != nil || !slices.Equal(got, s.requests[:min(n, 40)]) || src.Done() != 1 {
			t.Errorf("limit %d: %d requests, done %v, %v", n, len(got), src.Done(), err)
		}
		if _, err := src.Read(make([]Request, 1)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
}

func BenchmarkMix(b *testing.B) {
	mix := DefaultMix()
	mix.Requests = math.MaxInt64
	src := mix.Source()
	buf := make([]Request, 4096)
	for b.Loop() {
		src.Read(buf)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/request")
}
