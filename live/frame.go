package live

import (
	"encoding/json"
	"time"

	"github.com/firncache/firn"
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
	GCCPU      float64 `json:"gc_cpu_share"`       // of the processors, 0 to 1, in this second
	Statsviz   string  `json:"statsviz,omitempty"` // where Go's own panels are
}

// cache is one cache in a frame.
type cache struct {
	Name   string             `json:"name"`
	Closed bool               `json:"closed"`
	Now    map[string]float64 `json:"now"`   // by the names of series
	Stats  json.RawMessage    `json:"stats"` // every firn.Metric by its name; of a distribution, count, sum_ns, p50_ns, p99_ns, p999_ns
	Policy policy             `json:"policy"`
	Health health             `json:"health"`
	// Segments is the map of the log in base64, at most 1,024 cells: see inside.Inside.
	// Each cell stands for SegmentsPerCell segments, and has their mean.
	Segments        []byte      `json:"segments,omitempty"`
	SegmentsPerCell int         `json:"segments_per_cell,omitempty"`
	Curve           *firn.Curve `json:"curve,omitempty"` // anew every 5 s, absent in between
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
	SSD         string    `json:"ssd"` // none, online, recovering, offline, stalled
	SSDReason   string    `json:"ssd_reason,omitempty"`
	Shared      string    `json:"shared"`
	SharedNote  string    `json:"shared_note,omitempty"`
	RecoverDone float64   `json:"recover_done,omitempty"`
	Since       time.Time `json:"since,omitzero"`
}

// history is what was before, so that a fresh page is not empty: history.json.
type history struct {
	Run    string                 `json:"run"`
	Seq    []uint64               `json:"seq"`  // of the frames, oldest first
	Time   []int64                `json:"time"` // Unix milliseconds
	Host   map[string][]float64   `json:"process"`
	Caches []map[string][]float64 `json:"caches"` // by the names of series, in the order of frame.Caches
	Last   frame                  `json:"last"`   // with a curve
}

// series are the figures of a cache over time. Those a second are differences of two
// snapshots; quantiles are those of the durations in between, 0 if there were none.
//
//	reads front_hits ram_hits ssd_hits shared_hits misses          a second
//	loads load_errors stale_served negative_hits load_timeouts     a second
//	sets deletes                                                   a second
//	ram_p50_ns ram_p99_ns ssd_p50_ns ssd_p99_ns                    of reads
//	shared_p50_ns shared_p99_ns load_p50_ns load_p99_ns
//	age_p50_ms age_p90_ms                                          at eviction
//	evicted_capacity evicted_expired evicted_replaced              a second
//	evicted_deleted evicted_demoted evicted_ssd evicted_invalidated evicted_tag
//	ram_used_bytes ram_budget_bytes ram_record_bytes               gauges
//	ram_index_bytes ram_overhead_bytes entries loads_active
//	ssd_bytes ssd_entries ssd_live_share
//	ssd_user_bytes ssd_written_bytes ssd_read_bytes                bytes a second
//	ssd_day_bytes ssd_day_budget_bytes ssd_day_forecast_bytes      gauges
