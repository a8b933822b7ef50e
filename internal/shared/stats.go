package shared

// Stats are the figures of a shared tier, and of the copies of what it has. Counters count
// since it was opened.
type Stats struct {
	// Of the store.
	Hits, Misses      uint64 // reads that were answered by the shared tier, and those that found nothing there
	Copies            uint64 // stored locally after a read, a load or a Set
	CopiesRefused     uint64 // the key was written or invalidated meanwhile
	Checks, Unchanged uint64 // of suspect copies; those that were the latest
	StaleServed       uint64 // suspect copies that were answers while the tier was unavailable
	Errors            uint64 // reads and writes that failed

	// Of the tier.
	Invalidations uint64 // pushes by other clients
	Epochs        uint64 // begun since the first: interruptions of the feed
	Reconnects    uint64
	LeasesWon     uint64
	LeaseWaits    uint64 // for another process's load
	LeasesExpired uint64 // waits that ended without a value
	LeasesLost    uint64 // loaded values that were not stored: their lease was gone
	Conflicts     uint64 // writes of a version that was not the latest any more
	Foreign       uint64 // values that no cache has written
	TooLarge      uint64
	Compressed    uint64
	BytesRead     uint64
	BytesWritten  uint64
	Reads, Writes uint64 // requests
	Moved         uint64 // answers that another server has the slot
	BreakerOpened uint64
	BreakersOpen  int64 // servers that get no requests now
	Servers       int64 // that own slots
	ServersUp     int64 // of these, heard of within the bound
	FeedLag       int64 // the oldest server's word, in nanoseconds: what a trusted copy may be behind
	Online        bool  // every server is up
	Tracking      bool  // the servers have a feed; otherwise copies live by their TTL alone
}
