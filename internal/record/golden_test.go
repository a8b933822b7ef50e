package record

import "testing"

// Hashes are kept on disk: they are the same in every process and on every
// machine. The values come from another implementation of the same definition.
func TestHashGolden(t *testing.T) {
	for _, want := range []struct {
		length     int
		one, other uint64
	}{
		{0, 0xdfbeb2873f80b98e, 0xc018bdce70008e40},
		{1, 0x3d96dea357c4de71, 0x6dcad949f927f8ea},
		{2, 0x469752e9f58fef74, 0x87ec78b3429097cd},
		{3, 0x2f24630a1af47f3d, 0x9c484b6f969838df},
		{4, 0x3387434c285ac41f, 0xae5396a38c1af636},
		{7, 0x6f288f305bcd3d6f, 0xd6b0b7269d1d2759},
		{8, 0x907e3d52e79b725b, 0x339cb174351b3d1d},
		{9, 0x3862377be6d1c256, 0xfe0ae277b82dff02},
		{15, 0x83470cfb44b24a66, 0xb177c091642c51ac},
		{16, 0x6a19725cb8f3809b, 0x581e49395fa532e0},
		{17, 0x15feeaa5ffd2b6fc, 0x51158d382f8b932},
		{31, 0xd2b26e602127e4e6, 0xdf5c6fe07c84673d},
		{32, 0x5f56271cd91d6032, 0xd564d4565d39c1},
		{33, 0x5ba09f5365b527b5, 0x13bcf966003c2313},
		{48, 0x270b7a7ae640df9, 0x3dd4ec090a9bc90b},
		{49, 0xeb30e13e757a75a2, 0xf5f529153856754a},
		{64, 0xc93dfdc6d84a8cc8, 0x7a9c8711c0c5b7b7},
		{65, 0x552e8ae905284d1c, 0x65517856a9b0e823},
		{100, 0xb95d8a33d49ec42b, 0xc902ba55c9c7fd05},
	} {
		key := make([]byte, want.length)
		for i := range key {
			key[i] = byte(7*i + want.length)
		}
		for seed, want := range map[uint64]uint64{1: want.one, 0xfedcba9876543210: want.other} {
			h := NewHasher(seed)
			if got := h.Hash(key); got != want {
				t.Errorf("seed %#x, %d bytes: %#x, want %#x", seed, len(key), got, want)
			}
		}
	}
}
