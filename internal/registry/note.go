package registry

import "encoding/binary"

// A note says which tags a value has, and when it began to be made:
//
//	+------+-------+- - - - - - - - - - - -+
//	| seal | clock | hash of each tag      |
//	| 8    | 8     | 4                     |
//	+------+-------+- - - - - - - - - - - -+
//
// The seal is of the rest and of the table's secret, its epoch. So nobody outside the process
// can make a note, and none holds in a table of another epoch.
const (
	sealLen  = 8
	clockEnd = 16
	hashLen  = 4
)

// NoteLen is the length of the note of so many tags.
func NoteLen(tags int) int { return clockEnd + hashLen*tags }

// AppendNote appends the note of a value with some tags, which began to be made when the clock
// was that.
func (t *Table) AppendNote(dst []byte, clock uint64, tags []ID) []byte {
	from := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, clock)
	for _, id := range tags {
		dst = binary.LittleEndian.AppendUint32(dst, t.hash(id))
	}
	binary.LittleEndian.PutUint64(dst[from:], Seal(t.epoch, dst[from+sealLen:]))
	return dst
}

// Verdict is what a table says of a note.
type Verdict uint8

// The verdicts.
const (
	Foreign  Verdict = iota // it is of another table, or no note
	Obsolete                // a tag was invalidated since
	Expired                 // a tag was expired since, and none invalidated
	Holds
)

// Judge judges a note, of NoteLen of some number of tags. If it is Expired, since is the moment.
func (t *Table) Judge(note []byte) (v Verdict, since int64) {
	if binary.LittleEndian.Uint64(note) != Seal(t.epoch, note[sealLen:]) || t.ended.Load() {
		return Foreign, 0
	}
	v = Holds
	clock := binary.LittleEndian.Uint64(note[sealLen:])
	for hashes := note[clockEnd:]; len(hashes) >= hashLen; hashes = hashes[hashLen:] {
		p := t.at(binary.LittleEndian.Uint32(hashes))
		if p.expired.Load() > clock {
			if at := max(p.moment.Load(), 1); v == Holds || at < since { // 0 is of what has not expired
				v, since = Expired, at
			}
		}
		if p.invalidated.Load() > clock { // last: it may be raised for what was expired for too long
			return Obsolete, 0
		}
	}
	if t.ended.Load() { // after the places: what was read was there
		return Foreign, 0
	}
	return v, since
}

// Renew is AppendNote with the tags of a note.
func (t *Table) Renew(dst []byte, clock uint64, note []byte) []byte {
	from := len(dst)
	dst = append(dst, note...)
	binary.LittleEndian.PutUint64(dst[from+sealLen:], clock)
	binary.LittleEndian.PutUint64(dst[from:], Seal(t.epoch, dst[from+sealLen:]))
	return dst
}
