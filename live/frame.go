package live

import (
	"encoding/json"
	"time"
)

// frame is what the page is told each second, as JSON.
type frame struct {
	Seq    uint64    `json:"seq"`  // grows by one; a process that was restarted begins anew
	Run    string    `json:"run"`  // another one for each process, so that a page notices a restart
	Time   time.Time `json:"time"` // the server's
	Host   process   `json:"process"`
	Caches []cache   `json:"caches"`
}

// process is the state of the Go program.
type process struct {
	Go         string  `json:"go"`
	HeapBytes  uint64  `json:"heap_bytes"`
	Goroutines uint64  `json:"goroutines"`
	GCCycles   uint64  `json:"gc_cycles"`
	GCPauseP50 float64 `json:"gc_pause_p50_ms"` // of the pauses in this second, 0 without
	GCPauseMax float64 `json:"gc_pause_max_ms"`
	GCCPU      float64 `json:"gc_cpu_share"`       // of the processors, 0 to 1, up to the last collection
	Statsviz   string  `json:"statsviz,omitempty"` // where Go's own panels are
}

// cache is one cache in a frame.
type cache struct {
	Name   string          `json:"name"`
	Closed bool            `json:"closed"` // or collected: the figures are those of the last second before
	Now    figures         `json:"now"`    // by the names of series
	Stats  json.RawMessage `json:"stats"`  // every firn.Metric by its name; of a distribution, count, sum_ns, p50_ns, p99_ns, p999_ns
	Policy policy          `json:"policy"`
	Health health          `json:"health"`
	// Segments is the map of the log in base64, at most 1,024 cells: see inside.Inside.
	// Each cell stands for SegmentsPerCell segments, and has their mean.
	Segments        []byte          `json:"segments,omitempty"`
	SegmentsPerCell int             `json:"segments_per_cell,omitempty"`
	Curve           json.RawMessage `json:"curve,omitempty"` // a firn.Curve, anew every 5 s, absent in between
}

type policy struct {
	Settings []setting `json:"settings"`
	Current  int       `json:"current"`
	Filling  bool      `json:"filling"`
}

type setting struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"` // share of the best one's, 0 to 1
}

type health struct {
	SSD        string    `json:"ssd"` // none, online, recovering, offline, stalled
	SSDReason  string    `json:"ssd_reason,omitempty"`
	Shared     string    `json:"shared"`
	SharedNote string    `json:"shared_note,omitempty"`
	Since      time.Time `json:"since,omitzero"`
}

// figures are those of a cache, in the order of series.
type figures []float64

// MarshalJSON is an object of the names of series.
func (f figures) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, v := range f {
		b = appendNumber(appendName(b, series[i].name), v, 32)
	}
	return append(b, '}'), nil
}
