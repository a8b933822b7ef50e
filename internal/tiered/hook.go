package tiered

// WriteHook is told of every write of the bytes, for caches that lie above the store, and
// must not be older. All methods may be called at once, and under no lock of the
// store.
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
