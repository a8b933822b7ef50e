// Package admission decides which of the records that leave RAM are written to the SSD: those
// worth it, as far as the write budget goes.
//
// The files:
//
//	admission.go     the decision
//	sketch.go        hashes of records that were offered before
//	budget.go        how many bytes may be written a day; budget_state.go: the state for the
//	                 next process
package admission
