package replay

// SSD are the figures of a store's SSD tier. Counters count since the
// store was opened, gauges tell what was after the last request.
type SSD struct {
	Bytes     int64  `json:"bytes"`            // budget of all files
	Dir       string `json:"dir"`              // empty: a temporary directory, gone by now
	Admission string `json:"admission"`        // of entries that leave RAM
	On        bool   `json:"on"`               // false: switched off, because its disk failed or has no space
	Direct    bool   `json:"direct"`           // the page cache is passed by
	Engine    string `json:"engine,omitempty"` // of reads: "io_uring", for instance
	Found     int64  `json:"found"`            // entries that the files held at the start

	RAMHits      int64 `json:"ram_hits"`
	Hits         int64 `json:"hits"`
	Promotions   int64 `json:"promotions"`   // entries that came back to RAM
	Demotions    int64 `json:"demotions"`    // entries that left RAM and live on here
	Writes       int64 `json:"writes"`       // of these, entries that had to be written: the others were there still
	Refused      int64 `json:"refused"`      // by admission
	Limited      int64 `json:"limited"`      // by the write budget
	Shed         int64 `json:"shed"`         // because the disk was behind
	IndexFull    int64 `json:"index_full"`   // because the index had no memory, or not yet
	TooLarge     int64 `json:"too_large"`    // for the log
	Superseded   int64 `json:"superseded"`   // entries that died because their keys were written
	Evictions    int64 `json:"evictions"`    // for want of room
	Reinsertions int64 `json:"reinsertions"` // entries that were about to be and were kept, having been read

	SetBytes       int64    `json:"set_bytes"`        // keys and values that the workload set
	WriteBytes     int64    `json:"write_bytes"`      // keys and values of Writes
	WrittenBytes   int64    `json:"written_bytes"`    // to all files: headers, lists and reinsertions included
	WrittenPerSet  *float64 `json:"written_per_set"`  // written / set bytes
	WrittenPerByte *float64 `json:"written_per_byte"` // written / write bytes: write amplification

	Reads     int64 `json:"reads"` // of the log file
	ReadBytes int64 `json:"read_bytes"`
	P50       int64 `json:"read_p50_ns"`
	P99       int64 `json:"read_p99_ns"`
	P999      int64 `json:"read_p999_ns"`
	Faults    int64 `json:"faults"` // reads and writes that failed, wrong checksums

	Entries      int64 `json:"entries"`
	FileBytes    int64 `json:"file_bytes"` // space that the files take
	Segments     int64 `json:"segments"`
	FreeSegments int64 `json:"free_segments"`
	IndexBytes   int64 `json:"index_bytes"`  // memory of the index, part of the RAM budget
	MemoryBytes  int64 `json:"memory_bytes"` // memory of the tier, the index included
}

// derive fills the figures that follow from others and from those of the run.
func (s *SSD) derive(r *Result, total tally) {
	s.SetBytes = total.setBytes
	s.RAMHits = max(r.Hits-s.Hits, 0)
	s.WrittenPerSet = ratio(s.WrittenBytes, s.SetBytes)
	s.WrittenPerByte = ratio(s.WrittenBytes, s.WriteBytes)
}

// ratio is a/b, nil if b is 0.
func ratio(a, b int64) *float64 {
	if b == 0 {
		return nil
	}
	q := float64(a) / float64(b)
	return &q
}
