package whatif

import (
	"math"
	"math/bits"
)

// rate is the share of keys that are in a sample, above 0 and at most 1. Of two rates the sample
// of the smaller is a part of the other's.
//
// A key has a place between 0 and 1, evenly, and is in the sample if that is below the rate: its
// exponent is the number of zeros at the end of the bits that Tuner.Sampled looks at, so that a
// mask of these excludes most keys, and its mantissa is taken from a hash of its own.
type rate struct {
	share float64
	rank  uint64 // of the rarest key that is not in it
}

func newRate(share float64) rate {
	exponent := math.Floor(-math.Log2(share)) // share is from 2^-(exponent+1), without that, to 2^-exponent
	if share == math.Exp2(-exponent) {
		exponent--
	}
	mantissa := share*math.Exp2(exponent+1) - 1
	return rate{share, rankOf(int(exponent), uint32(min(mantissa*(1<<32), math.MaxUint32)))}
}

// rankOf orders keys by their places, the first last.
func rankOf(exponent int, mantissa uint32) uint64 {
	return uint64(exponent+1)<<32 | uint64(^mantissa)
}

// has reports whether a key is in the sample.
func (r rate) has(hash uint64) bool {
	zeros := bits.TrailingZeros64(hash ^ hash>>32)
	return rankOf(zeros, uint32(mix(hash)>>32)) > r.rank
}

// mask is a mask of the bits of hash ^ hash>>32 that are 0 in all keys of the sample.
func (r rate) mask() uint64 { return 1<<max(int(r.rank>>32)-1, 0) - 1 }
