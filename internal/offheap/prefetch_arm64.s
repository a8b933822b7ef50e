//go:build !race

#include "textflag.h"

// func prefetch(p unsafe.Pointer)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET

// func prefetchRange(p unsafe.Pointer, n uint64)
TEXT ·prefetchRange(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	ADD  R0, R1
	AND  $~63, R0
line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	CMP  R1, R0
	BLO  line
	RET

// func prefetchAll(base unsafe.Pointer, offs []uint64, n uint64)
TEXT ·prefetchAll(SB), NOSPLIT, $0-40
	MOVD base+0(FP), R0
	MOVD offs_base+8(FP), R1
	MOVD offs_len+16(FP), R2
	MOVD n+32(FP), R3
	ADD  R2<<3, R1, R2
	JMP  more
next:
	MOVD.P 8(R1), R4
	ADD  R0, R4
	ADD  R3, R4, R5
	AND  $~63, R4
line:
	PRFM (R4), PLDL1KEEP
	ADD  $64, R4
	CMP  R5, R4
	BLO  line
more:
	CMP  R2, R1
	BLO  next
	RET
