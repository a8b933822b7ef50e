//go:build !race

#include "textflag.h"

// func prefetch(p unsafe.Pointer)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func prefetchRange(p unsafe.Pointer, n uint64)
TEXT ·prefetchRange(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), BX
	ADDQ AX, BX
	ANDQ $~63, AX
line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, BX
	JLO  line
	RET

// func prefetchAll(base unsafe.Pointer, offs []uint64, n uint64)
TEXT ·prefetchAll(SB), NOSPLIT, $0-40
	MOVQ base+0(FP), DI
	MOVQ offs_base+8(FP), SI
	MOVQ offs_len+16(FP), CX
	MOVQ n+32(FP), DX
	LEAQ (SI)(CX*8), CX
	JMP  more
next:
	MOVQ (SI), AX
	ADDQ DI, AX
	LEAQ (AX)(DX*1), BX
	ANDQ $~63, AX
line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, BX
	JLO  line
	ADDQ $8, SI
more:
	CMPQ SI, CX
	JLO  next
	RET
