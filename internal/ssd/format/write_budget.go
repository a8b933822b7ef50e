package format

import "encoding/binary"

const (
	BudgetHours = 24 // that a state has
	// budgetLen is the length of a state in a file.
	BudgetLen = 8 * (3 + BudgetHours)
)

// BudgetState hands the write budget from one process to the next. That of no
// process is zero.
type BudgetState struct {
	Day   int64              // bytes a day
	At    int64              // when it was so, in milliseconds since 1970
	Left  int64              // bytes that may be written
	Hours [BudgetHours]int64 // bytes written in each of the last hours
}

// words are the state's numbers in the order of the file.
func (s *BudgetState) words() [3 + BudgetHours]*int64 {
	w := [3 + BudgetHours]*int64{&s.Day, &s.At, &s.Left}
	for i := range s.Hours {
		w[3+i] = &s.Hours[i]
	}
	return w
}

// Encode makes the bytes of a state.
func (s *BudgetState) Encode() (b [BudgetLen]byte) {
	for i, w := range s.words() {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(*w))
	}
	return b
}

// DecodeBudget reads a state. One that makes no sense is that of no process.
func DecodeBudget(b [BudgetLen]byte) (s BudgetState) {
	for i, w := range s.words() {
		*w = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	const most = 1 << 56 // the sum must not overflow
	for _, n := range s.Hours {
		if n < 0 || n > most {
			return BudgetState{}
		}
	}
	if s.Day < 0 || s.At < 0 {
		return BudgetState{}
	}
	return s
}
