package admission

import (
	"sync/atomic"
)

// Kind says which of the records that leave RAM are written.
type Kind uint8

// The kinds of admission.
const (
	Seen Kind = iota // all while there is room; otherwise records that were read since they were stored, or offered before not long ago
	Read             // records that were read since they were stored
	All              // all
)

// Admission decides which records are written: those worth it, as far as the budget goes.
// Seen chooses while live records fill the log, or the index: until then
// nothing has to leave for what comes.
type Admission struct {
	kind   Kind
	seen   sketch
	Budget budget

	AdmitAll  atomic.Bool // whatever kind is
	Selective atomic.Bool // records had to leave for want of room, when some was made last
}

// Init sets what is admitted: by a kind, as far as a budget in bytes a day goes, 0 for no
// limit. memory is the cache's RAM budget.
func (a *Admission) Init(k Kind, memory, bytesADay int64, now func() int64) {
	a.kind = k
	a.Budget.Init(bytesADay, now)
	if k == Seen {
		a.seen.init(memory / sketchShare)
	}
}

// Admit decides about a record of so many bytes.
func (a *Admission) Admit(hash uint64, bytes int, read bool) bool {
	w, ok := a.worthOf(hash, read)
	return ok && a.Budget.Admit(w, hash, bytes)
}

// worthOf rates a record, and reports whether that is enough. While the budget
// is short, Seen prefers records that were offered before.
func (a *Admission) worthOf(hash uint64, read bool) (w worth, ok bool) {
	switch {
	case a.AdmitAll.Load():
		return leaving, true
	case read:
		return proven, true
	case a.kind == Read:
		return unproven, false
	case a.kind == All:
		return unproven, true
	}
	choosing := a.Selective.Load()
	if (choosing || a.Budget.short()) && a.seen.add(hash) {
		return proven, true
	}
	return unproven, !choosing
}

// MayRewrite reports whether records may be written anew to make room.
func (a *Admission) MayRewrite() bool { return a.Budget.mayRewrite() }

// Memory is what an admission of a kind takes in bytes, of the cache's RAM budget.
func Memory(k Kind, ram int64) int64 {
	if k != Seen {
		return 0
	}
	return sketchBytes(ram / sketchShare)
}
