package replay

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/firncache/firn/internal/workload"
)

// tieredStore says that it has an SSD tier.
type tieredStore struct {
	*lruStore
	ssd SSD
}

func (s tieredStore) Stats() StoreStats {
	st := s.lruStore.Stats()
	st.SSD = &s.ssd
	return st
}

// Of a loop over ten keys, forty of fifty requests hit.
func TestSSDFigures(t *testing.T) {
	t.Parallel()
	store := tieredStore{newLRU(10), SSD{Hits: 30, WriteBytes: 540, WrittenBytes: 810}}
	requests := make([]workload.Request, 0, 50)
	for i := range 50 {
		requests = append(requests, workload.Request{Key: uint64(i % 10), Size: 92})
	}
	cfg := Config{Store: StoreOptions{RAMBytes: 1 << 20, Goroutines: 1}}
	result, err := Run(context.Background(), cfg, &listSource{requests: requests, err: io.EOF},
		func(StoreOptions) (Store, error) { return store, nil })
	if err != nil || result.SSD == nil {
		t.Fatal(result.SSD, err)
	}
	setBytes := int64(10 * 92)
	for i := range uint64(10) {
		setBytes += int64(len(workload.AppendKey(nil, i)))
	}
	s := result.SSD
	if result.Hits != 40 || s.RAMHits != 10 || s.SetBytes != setBytes || *s.WrittenPerSet != 810/float64(setBytes) || *s.WrittenPerByte != 1.5 {
		t.Errorf("%+v", s)
	}
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(data, &back); err != nil || *back.SSD.WrittenPerByte != 1.5 {
		t.Errorf("%s: %v", data, err)
	}
}

// Before the first write there is nothing to divide by.
func TestSSDNothingWritten(t *testing.T) {
	t.Parallel()
	var s SSD
	s.derive(&Result{}, tally{})
	if s.WrittenPerSet != nil || s.WrittenPerByte != nil {
		t.Errorf("%+v", s)
	}
}

// Values that are to be compressed are zeros for one half.
func TestRegularValues(t *testing.T) {
	t.Parallel()
	for _, regular := range []bool{false, true} {
		w := newWorker(&Config{Regular: regular}, nil, 0)
		zeros := 0
		for _, c := range w.value {
			if c == 0 {
				zeros++
			}
		}
		if share := float64(zeros) / float64(len(w.value)); regular != (share > 0.4) {
			t.Errorf("regular %v: %v of the bytes are 0", regular, share)
		}
	}
}
