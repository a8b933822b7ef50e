package shared

// NumberState is what lies under an id: the number, and those before it that went by
// ExpireNumber, the latest first. A value that notes one of these is stale since then; one that
// notes any other number is obsolete.
type NumberState struct {
	Value  uint64
	Former []FormerNumber // MaxFormer at most; not to be changed
}

// FormerNumber is a number that has expired.
type FormerNumber struct {
	Value uint64
	Since int64 // in the store's time, in milliseconds, 1 or more
}

// MaxFormer is how many numbers are remembered: values that note earlier ones are obsolete.
const MaxFormer = 8

// Expired is the state with another number, since now.
func (s NumberState) Expired(value uint64, now int64) NumberState {
	former := append(make([]FormerNumber, 0, MaxFormer), FormerNumber{s.Value, max(now, 1)})
	return NumberState{Value: value, Former: append(former, s.Former[:min(len(s.Former), MaxFormer-1)]...)}
}

// StaleSince is the moment since when a value that notes a number is stale; 0 if it is obsolete, or
// holds.
func (s NumberState) StaleSince(number uint64) int64 {
	for _, f := range s.Former {
		if f.Value == number {
			return f.Since
		}
	}
	return 0
}
