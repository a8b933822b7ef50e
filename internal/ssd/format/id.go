package format

import "github.com/firncache/firn/internal/record"

// IDs makes the ids of a log's keys and records.
type IDs struct {
	layout    Layout
	shardBits uint
	Mask      ID     // selects the bits of an id that an entry of the index can represent
	hashMask  uint64 // bits of a hash that are used; tests use few
	Hasher    record.Hasher
}

// NewIDs makes the ids of a log whose hash has a seed. hashMask is 0 for all bits.
func NewIDs(l Layout, shardBits uint, seed, hashMask uint64) IDs {
	if hashMask == 0 {
		hashMask = 1<<64 - 1
	}
	return IDs{l, shardBits, l.idMask(shardBits), hashMask, record.NewHasher(seed)}
}

// Of is the id of a key, by its hash.
func (s *IDs) Of(hash uint64) ID { return IDOf(hash&s.hashMask) & s.Mask }

// Hash is the hash of a key.
func (s *IDs) Hash(key []byte) uint64 { return s.Hasher.Hash(key) }

// OfRecord is the id of a record.
func (s *IDs) OfRecord(r *Record) ID {
	if k, ok := ParsePartKey(r.Key); ok && r.Kind() == IsPart {
		return s.Part(k.Owner, k.Part)
	}
	return s.Of(s.Hash(r.Key))
}

// Part is the id of a value's part, from the id of its key: another one of the same
// shard.
func (s *IDs) Part(owner ID, n int) ID {
	const step = 0x9e3779b97f4a7c15
	mask := ID(1)<<min(s.layout.FingerprintBits(), IDBits-s.shardBits) - 1
	return owner&^mask | (owner+ID(n+1)*step)&mask
}

// Owner is the id of the key whose value's part n has an id.
func (s *IDs) Owner(part ID, n int) ID { return s.Part(part, -n-2) }
