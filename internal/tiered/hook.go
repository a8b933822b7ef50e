package tiered

// WriteHook is told of every write, so that a cache above the store never answers with
// an older value than the store has. Its methods may be called from many goroutines at
// once, and are called with no lock of the store held.
type WriteHook interface {
	// BeforeWrite is called before the bytes of a key change. Its result goes
	// to AfterWrite: nil, or a pointer, which costs no allocation.
	BeforeWrite(key []byte) (token any)
	// AfterWrite is called when the bytes have changed, or could not be, and before
	// the write is acknowledged. The token is nil also if there was no hook before.
	AfterWrite(key []byte, token any)
	// Clear calls do, which empties the tiers or, with forever, closes them.
	Clear(forever bool, do func())
}
