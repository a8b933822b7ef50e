package tiered

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/ram"
)

// evictions is ssd.Evictions: it has the RAM tier note what the SSD tier evicts, so that
// OnEvict is told of it as of any other record.
type evictions struct {
	ram     *ram.Tier // set before the SSD tier starts
	closing atomic.Bool
	noted   *ram.Evicted // since the last call of Evicted
}

func (e *evictions) Wanted() bool { return e.ram.Tells(ram.LowerEvicted) && !e.closing.Load() }

func (e *evictions) Evict(key, value []byte, expired bool, take func() bool) {
	if e.noted == nil {
		e.noted = new(ram.Evicted)
	}
	e.ram.EvictLower(e.ram.Hash(key), key, value, expired, take, e.noted)
}

func (e *evictions) Evicted() (tell func()) {
	noted := e.noted
	if e.noted = nil; noted == nil || noted.Empty() {
		return nil
	}
	return noted.Notify
}
