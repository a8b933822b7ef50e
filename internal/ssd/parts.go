package ssd

import "github.com/firncache/firn/internal/ssd/format"

// A value may have one part in longShare of the log: more would drive out too much
// else.
const longShare = 8

// MaxWhole is the longest key and value together, in bytes, that come by Demote: the
// log has room for some of them where WaitForRoom says so. Longer ones come by DemoteParts.
func (t *Tier) MaxWhole() int { return min(t.log.MinSpare()/4, format.MaxWhole) }

// maxWhole is the longest key and value together that are one record.
func (t *Tier) maxWhole() int { return min(t.log.MaxRecord()-format.MaxRecordHeader, format.MaxWhole) }

// maxLong is the longest value in bytes that is taken in parts.
func (t *Tier) maxLong() int {
	return int(min(t.logBytes/longShare, int64(format.MaxParts)*int64(t.log.MaxPart())))
}

// maxParts is the most parts that a value may have here.
func (t *Tier) maxParts() int { return t.maxLong()/t.log.MaxPart() + 1 }

// maxPartRecord is how many bytes a part has at most.
func (t *Tier) maxPartRecord() int {
	return format.MaxRecordHeader + format.PartKeyLen + t.log.MaxPart()
}
