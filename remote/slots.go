package remote

import "strings"

// clusterSlots is how many slots a cluster has.
const clusterSlots = 16384

// slotOf is the slot of a key's name in a cluster: of what stands between its first '{' and the
// next '}', if that is not empty, and else of the whole name.
func slotOf(name string) int {
	if open := strings.IndexByte(name, '{'); open >= 0 {
		if n := strings.IndexByte(name[open+1:], '}'); n > 0 {
			name = name[open+1 : open+1+n]
		}
	}
	return int(crc16(name) % clusterSlots)
}

// crc16 is CRC-16/XMODEM: the polynomial 0x1021, the highest bit first, from 0.
func crc16(s string) (sum uint16) {
	for i := range len(s) {
		sum = sum<<8 ^ crcTable[byte(sum>>8)^s[i]]
	}
	return sum
}

var crcTable = func() (table [256]uint16) {
	for i := range table {
		sum := uint16(i) << 8
		for range 8 {
			carry := sum >> 15
			sum = sum<<1 ^ carry*0x1021
		}
		table[i] = sum
	}
	return table
}()

// slotRange is slots from and to, both included.
type slotRange struct{ from, to int }

func (r slotRange) valid() bool { return 0 <= r.from && r.from <= r.to && r.to < clusterSlots }

// allSlots is what a server owns that is not in a cluster.
var allSlots = []slotRange{{0, clusterSlots - 1}}
