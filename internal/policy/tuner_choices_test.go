package policy

import (
	"reflect"
	"testing"
)

// The choice that holds is the one whose shadow hits most, and the others' scores are their
// hits beside it.
func TestChoices(t *testing.T) {
	const entries = 5000
	tuner := NewTuner(1 << 30)
	if list, current := tuner.Choices(); len(list) != len(settings) || current != 0 || list[0].Score != 0 {
		t.Errorf("%+v, %d: want each setting, the first one in use, and no scores", list, current)
	}
	var keys []uint64
	for i := range 40 * entries { // each key twice, the second time a third of a cache later
		keys = append(keys, uint64(i), uint64(max(0, i-entries*3/10)))
	}
	drive(tuner, entries, keys)
	list, current := tuner.Choices()
	if list[current].Setting != tuner.Setting() || list[current].Score < 0.99 {
		t.Errorf("%v holds with a score of %.3f, and %v is in use", list[current].Setting, list[current].Score, tuner.Setting())
	}
	best := tuner.shadows[current].hits
	for i, c := range list {
		if want := tuner.shadows[i].hits / best; c.Setting != settings[i] || c.Score > 1 || c.Score-want > .01 || want-c.Score > .01 {
			t.Errorf("%v: a score of %.3f, want %.3f", c.Setting, c.Score, want)
		}
	}
	if list[0].Score > .9 {
		t.Errorf("%v has a score of %.3f, where each key comes back after longer than it keeps it", list[0].Setting, list[0].Score)
	}
	if small, now := NewTuner(minCache - 1).Choices(); now != 0 || len(small) != 1 || small[0] != (Choice{Setting: settings[0]}) {
		t.Errorf("a cache without shadows has %+v", small)
	}
}

func TestSettingInWords(t *testing.T) {
	for want, s := range map[string]Setting{
		"small 5 %, promote at 2 reads":         settings[0],
		"small 80 %, stay or promote at 1 read": settings[3],
		"small 12.5 %, promote at 1 read":       {Share: .125, Promote: 1},
	} {
		if s.String() != want {
			t.Errorf("%+v is %q, want %q", s, s, want)
		}
	}
}

// The choices are whole at any moment of the requests beside which they are read, and
// reading them changes nothing: the same requests alone lead to the same shadows.
func TestChoicesBesideRequests(t *testing.T) {
	beside, alone, done := NewTuner(1<<20), NewTuner(1<<20), make(chan struct{})
	request := func(tuner *Tuner, look func()) {
		for i, h := range hashes(20_000, 8) {
			tuner.Insert(h, 100, false)
			tuner.Hit(h)
			if i%100 == 0 {
				look()
			}
		}
	}
	look := func() {
		list, current := beside.Choices()
		checkChoices(t, list, current)
	}
	go func() {
		defer close(done)
		request(beside, look)
	}()
	for running := true; running; {
		look()
		select {
		case <-done:
			running = false
		default:
		}
	}
	request(alone, func() {})
	checkTuner(t, beside)
	if !reflect.DeepEqual(beside.shadows, alone.shadows) || beside.Setting() != alone.Setting() {
		t.Error("the shadows are others than after the same requests without readers")
	}
}

// checkChoices fails unless each setting is there, and one that scores 1, or none that scores.
func checkChoices(t *testing.T, list []Choice, current int) {
	t.Helper()
	best, total := 0.0, 0.0
	for i, c := range list {
		best, total = max(best, c.Score), total+c.Score
		if c.Setting != settings[i] || c.Score < 0 {
			t.Errorf("choice %d is %+v, want %v with a score", i, c, settings[i])
		}
	}
	if len(list) != len(settings) || current < 0 || current >= len(list) || best != 1 && total != 0 {
		t.Errorf("%+v, and %d holds", list, current)
	}
}
