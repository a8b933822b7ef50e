package ssd

import (
	"math/rand/v2"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
)

// A value that is too long for one record lies in parts: records of their own,
// anywhere in the log, under ids that follow from the key's. All of them are in its
// shard, so that taking the head out of the index takes them out as well.
// The head is a record with the key, and the last to be written. It has how many
// parts there are, and their number: the parts of one write have the same, a random
// one, and no reader puts those of two together.
//
// To all else a part is a record like others: it is moved, evicted and saved on its
// own. Without all of them the value is lost, and the next reader takes the rest out.

// DemoteParts begins to take over a record that leaves RAM; copied is as for
// Demote, but that an older copy goes when it begins: the parts have the same ids.
// It returns nil if the record is not to come, or, with there, lives here. Each call
// of PutPart takes the NextPart of the value that is next, and Commit ends it, or
// PutAll takes all at once; or else Abort ends it. All of them are called like Demote,
// under the lock that orders the writes of the key.
func (t *Tier) DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read bool, copied record.Copy) (d *Transfer, there bool) {
	x := t.ids.Of(hash)
	s := t.index.ShardOf(x)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if t.state.Load() != on {
		return nil, false
	}
	_, found := s.Find(x)
	if found && copied == record.SameCopy {
		t.count.alreadyOnSSD.Add(1)
		return nil, true
	}
	whole := keyLen+valueLen <= t.maxWhole()
	if !whole && (valueLen > t.maxLong() || keyLen+format.HeadLen > t.maxWhole()) {
		t.count.tooLarge.Add(1)
		return nil, false
	}
	if !t.admission.Admit(hash, keyLen+valueLen, read) {
		t.count.rejected.Add(1)
		if found && copied == record.OlderCopy {
			t.count.alreadyOnSSD.Add(1)
			return nil, true
		}
		return nil, false
	}
	if deadline != 0 && !t.hasDeadlines.Load() {
		t.hasDeadlines.Store(true)
	}
	t.dropReplaced(s, x, copied)
	t.live.descents.Add(1)
	d = &Transfer{t: t, owner: x, deadline: deadline, head: format.Head{Bytes: valueLen}, nextBytes: format.MaxRecordHeader + keyLen + valueLen}
	if !whole {
		most := t.log.MaxPart()
		d.head.Write, d.head.Parts = rand.Uint64(), (valueLen+most-1)/most
		d.pieceBytes, d.nextBytes = (valueLen+d.head.Parts-1)/d.head.Parts, max(t.maxPartRecord(), format.MaxRecordHeader+keyLen+format.HeadLen)
	}
	return d, false
}
