package ssd

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/vfs"
)

// emptyJournal is the journal of log 1, on a file that rules may meet.
func emptyJournal(t *testing.T) (*journal, *vfs.Faulty) {
	t.Helper()
	f := vfs.NewFaulty(vfs.NewMem())
	file, err := f.Open(journalName, vfs.How{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	j := newJournal(file, minJournal, func() {})
	if err := j.reset(1); err != nil {
		t.Fatal(err)
	}
	return j, f
}

// holds checks that a log's journal is whole and has a note of an id.
func (j *journal) holds(t *testing.T, logID uint64, x id) {
	t.Helper()
	notes, whole, err := newJournal(j.file, minJournal, nil).read(logID)
	if err != nil || !whole {
		t.Fatalf("whole %v, %v", whole, err)
	}
	if !slices.ContainsFunc(notes, func(n note) bool { return n.id == x }) {
		t.Errorf("no note of %d: %v", x, notes)
	}
}

// Row 1: a note of the old log that takes long must not come down on one of the
// new.
func TestFault01NewJournalWaitsForWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, f := emptyJournal(t)
		slow := f.Inject(vfs.Rule{On: vfs.OpWrite, Block: true, Times: 1})
		var group sync.WaitGroup
		group.Go(func() { _ = j.commit(note{kind: noteDead, id: 1, at: 1}) })
		slow.AwaitBlocked(1)
		group.Go(func() { _ = j.reset(2) })
		synctest.Wait()
		group.Go(func() { _ = j.commit(note{kind: noteDead, id: 2, at: 2}) })
		synctest.Wait()
		slow.Remove()
		group.Wait()
		j.holds(t, 2, 2)
	})
}

// Row 1: nor is a note written for the old log while the file is made empty.
func TestFault01WritersWaitForNewJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, f := emptyJournal(t)
		emptied := f.Inject(vfs.Rule{On: vfs.OpWrite, Match: func(op vfs.Op) bool { return op.Len == noteLen }, Block: true, Times: 1})
		var group sync.WaitGroup
		group.Go(func() { _ = j.reset(2) })
		emptied.AwaitBlocked(1)
		group.Go(func() { _ = j.commit(note{kind: noteDead, id: 2, at: 2}) })
		synctest.Wait()
		emptied.Remove()
		group.Wait()
		j.holds(t, 2, 2)
	})
}
