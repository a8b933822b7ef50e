// Package slots is the slots of a cluster, and who owns them by the word of a server.
package slots

import "strings"

// Count is how many slots a cluster has.
const Count = 16384

// Of is the slot of a key's name in a cluster: of what stands between its first '{' and the
// next '}', if that is not empty, and else of the whole name.
func Of(name string) int {
	if open := strings.IndexByte(name, '{'); open >= 0 {
		if n := strings.IndexByte(name[open+1:], '}'); n > 0 {
			name = name[open+1 : open+1+n]
		}
	}
	return int(CRC16(name) % Count)
}

// CRC16 is CRC-16/XMODEM: the polynomial 0x1021, the highest bit first, from 0.
func CRC16(s string) (sum uint16) {
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

// Range is slots from and to, both included.
type Range struct{ From, To int }

// Valid reports whether there are such slots.
func (r Range) Valid() bool { return 0 <= r.From && r.From <= r.To && r.To < Count }

// All is what a server owns that is not in a cluster.
var All = []Range{{0, Count - 1}}
