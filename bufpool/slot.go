package bufpool

// state is a block's life in one word, so that one comparison tells whether a
// handle may still use it:
//
//	63                          16 15          0
//	┌─────────────────────────────┬─────────────┐
//	│ lends: times it was lent    │ references  │
//	└─────────────────────────────┴─────────────┘
//
// No references: idle. gone: given back, and never lent again. Anything else:
// lent. lends is also the generation of the handle.
type state uint64

const (
	refBits = 16
	gone    = state(1<<refBits - 1)
	maxRefs = gone - 1
	oneLend = state(1 << refBits)
	oneRef  = state(1)
)

func (s state) refs() int     { return int(s & gone) }
func (s state) lends() uint64 { return uint64(s >> refBits) }
func (s state) lent() bool    { return s&gone != 0 && s&gone != gone }

// slot is a level's state of one block. It outlives the block, so that
// no count is lost when the collector takes an idle block or one that was
// forgotten. The owner of the block's last reference writes state with plain
// stores; everyone may read it.
type slot struct {
	state word
	level *level
	slab  *slab
	index int // in level.slots, or -1; guarded by level.mu
	size  int
	trace *trace // who took it; checked pools only
	_     [16]byte
}

// slab is one allocation that blocks are cut from. Guarded by level.mu.
type slab struct {
	bytes  int64
	left   int    // blocks that are not given back
	mapped []byte // the whole of it, where it is not on the Go heap
}

// block stands for the memory of one buffer towards the collector. Only its
// handle points to it, and to an idle handle only its level's stash, to a lent
// one only its owner: the collector may take both, and then reports to the slot.
type block struct{ slot *slot }
