//go:build !race && !firnheap

package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// residentBytes is how much of the mapping that begins at b lies in memory.
func residentBytes(t *testing.T, b []byte) int64 {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	at, inside := reflect.ValueOf(b).Pointer(), false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var kb int64
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err == nil {
			inside = from <= at && at < to
		}
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &kb); err == nil && inside {
			return kb << 10
		}
	}
	t.Fatal("the mapping is not in smaps")
	return 0
}

// What the tables take of the memory is what is counted: with no entry in any of many shards,
// when they have grown, after Clear, and in the process after the next one.
func TestIndexTakesWhatIsCounted(t *testing.T) {
	const shardBits, most, page = 9, 64 << 20, 4096
	if os.Getpagesize() != page {
		t.Skipf("pages have %d bytes here", os.Getpagesize())
	}
	fs, err := vfs.OS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keeper, _ := fs.(vfs.MemoryKeeper)
	m, why, err := files.NewMemory(format.MemoryShape{Slots: 1, Shards: 1 << shardBits, Stride: most >> shardBits / 8, LocationBits: 30}, keeper)
	if err != nil {
		t.Fatal(err)
	}
	if why != nil {
		t.Skipf("no memory outlives the process here: %v", why)
	}
	defer m.Release()
	defer m.Forget()
	x := New(shardBits, m, false)
	x.Allowed.Store(x.Most)
	const beside = 2*page + 8<<shardBits // the first page, the slots, the heads of the shards
	want := func(when string, x *Index) {
		t.Helper()
		if got, counted := residentBytes(t, m.Region.Bytes(0, 1)), x.Used.Load(); got > counted+beside+page || got < counted {
			t.Errorf("%s: %d bytes lie in memory, %d are counted", when, got, counted)
		}
	}
	want("empty", x)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		n := format.ID(rng.Uint64() >> (64 - format.IDBits))
		if s := x.ShardOf(n); x.ReserveSlot(s) {
			s.Put(x.NewEntry(n, 1, 100, format.IsWhole))
		}
	}
	want("grown", x)
	left := New(shardBits, m, true) // as the next process finds it
	for i := range left.Shards {
		left.Shards[i].Reset()
	}
	left.Used.Store(left.TableBytes())
	want("reset by the next process", left)
	x = New(shardBits, m, false)
	x.Allowed.Store(x.Most)
	want("cleared", x)
}
