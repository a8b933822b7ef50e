package plan

import "testing"

// The room of a record is rounded up as the tier does.
func TestRecordsAreRounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ gib, want int64 }{{8, 88}, {32, 88}, {64, 96}, {256, 128}} {
		a, err := Compute(&Question{Entries: 1e6, Key: 16, Value: 64, RAM: c.gib << 30})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.RAM.RecordSize; got != c.want {
			t.Errorf("%d GiB: a record of 88 bytes takes %d: want %d", c.gib, got, c.want)
		}
	}
}
