package evicted

// Cause says why a record left.
type Cause uint8

// The causes.
const (
	Capacity     Cause = iota // its room was needed
	Expired                   // its deadline and its grace passed
	Replaced                  // its key was set again
	Deleted                   // its key was deleted, everything was cleared, or it was obsolete
	Demoted                   // its room was needed, and the lower tier has it
	LowerEvicted              // the lower tier alone had it, and needed its room: see EvictLower
	Invalidated               // it may not be what the shared tier has: see Drop
	OverQuota                 // its namespace was above its quota: see Quota
)

// Causes is a set of causes.
type Causes uint32

// CausesOf is the set of some causes.
func CausesOf(list ...Cause) (s Causes) {
	for _, c := range list {
		s |= 1 << c
	}
	return s
}

// Has reports whether the set has a cause.
func (s Causes) Has(c Cause) bool { return s>>c&1 != 0 }

// Gone is the causes for which a record is in neither tier, as far as this one knows.
const Gone Causes = 1<<Capacity | 1<<Expired | 1<<Replaced | 1<<Deleted | 1<<Invalidated | 1<<OverQuota
