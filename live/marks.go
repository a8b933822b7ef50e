package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/firncache/firn/internal/advice"
	"github.com/firncache/firn/internal/inside"
)

// mark is a moment at which a cache became another one, for the axes of time.
type mark struct {
	Time int64  `json:"time"` // Unix milliseconds
	What string `json:"what"`
	kind string // of marks that take each other's place
}

// marks are those of the history, oldest first.
type marks []mark

const (
	markLife  = 15 * time.Minute // as the history's
	mostMarks = 40
	together  = 10 * time.Second // of one kind, the last of such a time stands for all
)

// add adds what changed from one snapshot to the next.
func (m *marks) add(from, to *snapshot) {
	oldest := to.at.Add(-markLife).UnixMilli()
	*m = slices.DeleteFunc(*m, func(old mark) bool { return old.Time < oldest })
	note := func(kind string, changed bool, format string, words ...any) {
		if !changed || from.stats.RAM.Bytes == 0 {
			return
		}
		*m = slices.DeleteFunc(*m, func(old mark) bool {
			return old.kind == kind && to.at.UnixMilli()-old.Time < together.Milliseconds()
		})
		*m = append(*m, mark{to.at.UnixMilli(), fmt.Sprintf(format, words...), kind})
		*m = (*m)[max(0, len(*m)-mostMarks):]
	}
	a, b := &from.inside, &to.inside
	note("closed", a.Closed != b.Closed, "closed")
	note("clear", to.stats.Cleared > from.stats.Cleared, "Clear")
	note("ram", to.stats.RAM.Bytes != from.stats.RAM.Bytes, "RAM of %s", advice.Size(to.stats.RAM.Bytes))
	note("log", a.SSDBudget != b.SSDBudget, "SSD of %s", advice.Size(b.SSDBudget))
	note("ssd", a.Health.SSD != b.Health.SSD, "SSD %s", b.Health.SSD)
	note("shared", a.Health.Shared != b.Health.Shared, "shared tier %s", b.Health.Shared)
	note("setting", settingOf(a) != settingOf(b), "entries are chosen by “%s”", settingOf(b))
}

// settingOf is the eviction policy's setting in use.
func settingOf(in *inside.Inside) string {
	if p := &in.Policy; p.Current < len(p.Settings) {
		return p.Settings[p.Current].Name
	}
	return ""
}
