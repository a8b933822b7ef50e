package firntest

import (
	"sync"
	"time"

	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Ops are kinds of operations of a disk, or with | several.
type Ops uint8

// The kinds.
const (
	Reads  Ops = 1 << iota // of values
	Writes                 // of values, and of the cache's own files
	Syncs                  // at Close
	Every  Ops = Reads | Writes | Syncs
)

// Disk is the SSD of a cache: files in memory, healthy until a method changes that. The
// changes add up, and count from then on. It is safe for concurrent use.
type Disk struct {
	faulty *vfstest.Faulty

	mu  sync.Mutex
	ill []*vfstest.Injection
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{faulty: vfstest.NewFaulty(vfstest.NewMem())} }

// Fail has operations fail with an error. After a while of that the cache goes on
// without its SSD, and with an empty one soon after Heal: see stats.SSD.Online.
func (d *Disk) Fail(ops Ops, err error) { d.inject(vfstest.Rule{On: ops.kinds(), Err: err}) }

// Full has writes fail as those of a full file system do.
func (d *Disk) Full() { d.Fail(Writes, vfs.ErrNoSpace) }

// Stall has operations not come back until Heal. The function that it returns waits
// until n of them have come.
func (d *Disk) Stall(ops Ops) (await func(n int)) {
	return d.inject(vfstest.Rule{On: ops.kinds(), Block: true}).AwaitBlocked
}

// Slow has each operation take so long.
func (d *Disk) Slow(ops Ops, by time.Duration) {
	d.inject(vfstest.Rule{On: ops.kinds(), Delay: by})
}

// Corrupt has reads return wrong bytes.
func (d *Disk) Corrupt() {
	d.inject(vfstest.Rule{On: vfstest.OpRead, Mangle: func(_ vfstest.Op, p []byte) {
		for i := range p {
			p[i] ^= 0x55
		}
	}})
}

// Heal ends all of it: operations that were stalled go on.
func (d *Disk) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, in := range d.ill {
		in.Remove()
	}
	d.ill = nil
}

func (d *Disk) inject(r vfstest.Rule) *vfstest.Injection {
	d.mu.Lock()
	defer d.mu.Unlock()
	in := d.faulty.Inject(r)
	d.ill = append(d.ill, in)
	return in
}

// kinds are the operations of the file system.
func (ops Ops) kinds() (k vfstest.Kind) {
	if ops&Reads != 0 {
		k |= vfstest.OpRead
	}
	if ops&Writes != 0 {
		k |= vfstest.OpWrite | vfstest.OpAllocate | vfstest.OpTruncate
	}
	if ops&Syncs != 0 {
		k |= vfstest.OpSync | vfstest.OpSyncDir
	}
	return k
}
