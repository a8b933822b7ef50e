package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// A page of the journal that the system failed to write back is what it was before:
// zeros, or notes of an earlier turn. It does not pass for notes that were never
// written, for one of its edges cuts a note in two.
func TestLostPageOfTheJournal(t *testing.T) {
	t.Parallel()
	const bytes, logID = 64 << 10, 7
	for _, turns := range []int{1, 3} { // the first area after so many is read over zeros, and over notes
		file, err := vfs.NewMem().Open(journalName, vfs.How{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		j := newJournal(file, bytes, func() {})
		if err := j.reset(logID); err != nil {
			t.Fatal(err)
		}
		before, after := make([]byte, bytes), make([]byte, bytes)
		lsn := uint64(0)
		for turn := range turns {
			if turn == turns-1 {
				if _, err := file.ReadAt(before[:j.area], 0); err != nil {
					t.Fatal(err)
				}
			}
			for j.room() > kept {
				lsn++
				if err := j.commit(note{noteDead, id(lsn), lsn}); err != nil {
					t.Fatal(err)
				}
			}
			if turn < turns-1 {
				j.foldDone(j.generation)
				j.mu.Lock()
				j.turn()
				j.mu.Unlock()
			}
		}
		if _, err := file.ReadAt(after[:j.area], 0); err != nil {
			t.Fatal(err)
		}
		used := int(j.at)
		for page := 0; page+blockBytes < used; page += blockBytes {
			if _, err := file.WriteAt(before[page:page+blockBytes], int64(page)); err != nil {
				t.Fatal(err)
			}
			if _, whole, err := newJournal(file, bytes, nil).read(logID); whole || err != nil {
				t.Errorf("turn %d: without the page at %d the journal is whole: %v, %v", turns, page, whole, err)
			}
			if _, err := file.WriteAt(after[page:page+blockBytes], int64(page)); err != nil {
				t.Fatal(err)
			}
		}
		if _, whole, err := newJournal(file, bytes, nil).read(logID); !whole || err != nil {
			t.Errorf("turn %d: %v, %v: want it whole", turns, whole, err)
		}
	}
}
