// Package record defines how a key and its value are laid out in a tier's log,
// and how keys are hashed.
//
//	 0          4          8
//	+----------+----------+- - - - - - -+- - - - - - -+-----+-------+- - - -+
//	| version  | shape    | value length| deadline    | key | value | zeros |
//	| 4 bytes  | 4 bytes  | 8, if long  | 8, if a TTL |     |       | to 8·n|
//	+----------+----------+- - - - - - -+- - - - - - -+-----+-------+- - - -+
//
// Numbers are little-endian on every machine that firn runs on. Records start
// at multiples of Align.
//
// The version is odd while the value is being overwritten in place and grows
// by two each time; its top bit says that the key was read. The shape says
// everything that never changes while the record lives:
//
//	bit  31     30        20..29       0..19
//	    +------+--------+------------+--------------+
//	    | long | expires| key length | value length |   short record
//	    +------+--------+------------+--------------+
//	    | long | expires| key length                |   long record: the value
//	    +------+--------+---------------------------+   length is a field of its own
//
// Most records are short: keys up to 1023 bytes and values below 1 MiB.
package record
