//go:build !race && !firn_skip_validation

#include "go_asm.h"
#include "textflag.h"

// STRIPE makes AX point to the counters of this stack: readCounters.count.
#define STRIPE \
	MOVQ SP, AX; \
	MOVQ SP, DX; \
	SHRQ $12, AX; \
	SHRQ $18, DX; \
	XORQ DX, AX; \
	ANDQ (Tier_reads+readCounters_mask)(DI), AX; \
	SHLQ $6, AX; \
	ADDQ Tier_reads(DI), AX

// func getShort(t *Tier, dst []byte, key string) (value []byte, ok bool)
//
// getShort is the lookup of getAny for most Gets: a key of 4 to 16 bytes
// that is in its first bucket, or in none, and a value of 4 to 528 bytes that dst
// has room for. It loads what getAny loads, in that order, which on this processor
// is the order in which others see it, and makes sure of the same things after
// the copy: docs/CONCURRENCY.md has the argument. Whatever else comes up it leaves
// to getAny, before anything was changed but the room behind dst.
//
// It is here because a Get of a cold key is two loads that miss every cache, and
// the processor runs ahead into the next Gets meanwhile, as far as it comes: every
// value that a compiler keeps on the stack takes some of that. All of getShort is in
// registers:
//
//	DI  t                          R10 shard
//	SI  key, then the value        R11 its epoch
//	R8  length of the key          R12 shape of the table, then twice the slot
//	R9  hash, then the location    R13 bucket
//	R15 record                     CX  its version and, above that, its shape
TEXT ·getShort(SB), NOSPLIT, $0-73
	MOVQ t+0(FP), DI
	MOVQ key_base+32(FP), SI
	MOVQ key_len+40(FP), R8
	LEAQ -8(R8), AX
	CMPQ AX, $8
	JHI  short_key

	// record.Hasher.Hash
	MOVQ (SI), AX
	MOVQ -8(SI)(R8*1), DX

hash:
	XORQ (Tier_hasher+8)(DI), AX
	XORQ (Tier_hasher+16)(DI), DX
	MULQ DX
	XORQ DX, AX
	MOVQ Tier_hasher(DI), DX
	XORQ R8, DX
	MULQ DX
	XORQ DX, AX
	ANDQ Tier_hashMask(DI), AX
	MOVQ AX, R9

	// Tier.shardOf
	MOVQ  Tier_shardShift(DI), CX
	SHRQ  CX, AX
	ANDQ  Tier_shardMask(DI), AX
	IMULQ $shard__size, AX
	MOVQ  Tier_shards(DI), R10
	ADDQ  AX, R10
	MOVQ  shard_epoch(R10), R11
	MOVQ  (shard_table+const_tableShape)(R10), R12

	// index.Table.Home: the low bits of the hash, one less if there is no such bucket
	MOVL    (shard_table+const_tableMask)(R10), DX
	MOVL    R9, AX
	ANDL    DX, AX
	SHRL    $1, DX
	INCL    DX
	NOTL    DX
	ANDL    AX, DX
	CMPL    AX, R12
	CMOVLCC DX, AX

	// index.Table.Offset
	MOVL (shard_table+const_tableChunkShift)(R10), CX
	MOVL AX, DX
	SHRL CX, DX
	MOVQ (shard_table+const_tableChunks)(R10), BX
	MOVL (BX)(DX*4), DX
	SHLQ CX, DX
	ANDL (shard_table+const_tableChunkMask)(R10), AX
	ADDQ DX, AX
	SHLQ $6, AX
	MOVQ Tier_region(DI), BX
	MOVQ (BX), BX                                       // its base
	LEAQ (BX)(AX*1), R13

	// index.Bucket.Match, eight tags and two: two bits of AX for each that is equal
	MOVOU      (R13), X0
	MOVQ       16(R13), X1
	MOVQ       R9, AX
	SHRQ       $32, AX
	ANDL       $0x3fff, AX
	CMPL       AX, $1
	ADCL       $0, AX      // index.TagOf: 1 instead of 0
	MOVQ       AX, X2
	PSHUFLW    $0, X2, X2
	PUNPCKLQDQ X2, X2
	PCMPEQL    X3, X3
	PSRLW      $2, X3      // without the frequencies
	PAND       X3, X0
	PAND       X3, X1
	PCMPEQW    X2, X0
	PCMPEQW    X2, X1
	PMOVMSKB   X0, AX
	PMOVMSKB   X1, DX
	ANDL       $15, DX     // behind these is the link
	SHLL       $16, DX
	ORL        DX, AX
	JEQ        absent
	BSFL       AX, R12

	// policy.Tuner.Sampled
	MOVQ  R9, AX
	SHRQ  $32, AX
	XORQ  R9, AX
	MOVQ  $const_tunerSpread, DX
	IMULQ DX, AX
	MOVQ  Tier_tuner(DI), DX
	TESTQ const_tunerMask(DX), AX
	JEQ   any

	// The record: in the segments, its version even, its lengths those that fit.
	MOVL  const_bucketLocations(R13)(R12*2), R9
	MOVL  R9, R15
	MOVQ  Tier_unitShift(DI), CX
	SHLQ  CX, R15
	LEAQ  -1(R15), AX
	MOVQ  Tier_ghostAt(DI), DX
	DECQ  DX
	CMPQ  AX, DX
	JCC   any                                   // 0, or beyond the segments
	MOVQ  Tier_segShift(DI), CX
	MOVL  $1, DX
	SHLQ  CX, DX
	LEAQ  -1(DX), AX
	ANDQ  R15, AX
	SUBQ  AX, DX                                // bytes from here to the end of the segment
	ADDQ  BX, R15
	MOVQ  (R15), CX
	BTL   $0, CX
	JCS   any
	LEAQ  8(R15), BX                            // behind the header
	MOVQ  CX, AX
	SHRQ  $32, AX
	BTL   $30, AX
	JCS   expires

lengths:
	MOVL AX, R14
	ANDL $0xfffff, R14        // of the value
	SHRL $20, AX
	CMPQ AX, R8               // of the key; long records have a bit above that
	JNE  any
	LEAQ (BX)(R8*1), AX
	SUBQ R15, AX
	ADDQ R14, AX
	CMPQ AX, DX
	JHI  any

	CMPQ R8, $8
	JCS  compare_short
	MOVQ (SI), AX
	CMPQ AX, (BX)
	JNE  any
	MOVQ -8(SI)(R8*1), AX
	CMPQ AX, -8(BX)(R8*1)
	JNE  any

	// The copy, in blocks of which the last may overlap the one before.
copy:
	LEAQ (BX)(R8*1), SI
	MOVQ dst_len+16(FP), DX
	LEAQ (DX)(R14*1), BX     // length of what is returned
	CMPQ BX, dst_cap+24(FP)
	JHI  any
	ADDQ dst_base+8(FP), DX
	LEAQ -16(R14), AX
	CMPQ AX, $512
	JHI  short_value
	XORL R8, R8
	CMPQ R8, AX
	JCC  last

block:
	MOVOU (SI)(R8*1), X0
	MOVOU X0, (DX)(R8*1)
	ADDQ  $16, R8
	CMPQ  R8, AX
	JCS   block

last:
	MOVOU (SI)(AX*1), X0
	MOVOU X0, (DX)(AX*1)

	// shard.unchanged
copied:
	MOVL R12, AX
	SHRL $3, AX
	LEAQ (R13)(AX*8), SI
	MOVQ (SI), AX                           // the word with the tag
	CMPL CX, (R15)
	JNE  any
	CMPL R9, const_bucketLocations(R13)(R12*2)
	JNE  any
	CMPQ R11, shard_epoch(R10)
	JNE  any

	// index.Bucket.Touch
	MOVL  R12, CX
	ANDL  $6, CX
	SHLL  $3, CX
	MOVQ  AX, DX
	SHRQ  CX, DX
	TESTL $0x3fff, DX
	JEQ   count        // the slot was emptied
	NOTL  DX
	TESTL $0xc000, DX
	JEQ   count        // as often as is counted
	MOVL  $0x4000, DX
	SHLQ  CX, DX
	ADDQ  AX, DX
	LOCK
	CMPXCHGQ DX, (SI)

count:
	STRIPE
	INCQ (AX)
	MOVQ dst_base+8(FP), AX
	MOVQ AX, value_base+48(FP)
	MOVQ BX, value_len+56(FP)
	MOVQ dst_cap+24(FP), AX
	MOVQ AX, value_cap+64(FP)
	MOVB $1, ok+72(FP)
	RET

	// A header with a deadline, which is not near: clock.near.
expires:
	BTRL $30, AX
	MOVQ (Tier_clock+times_coarse)(DI), R14
	MOVQ (R14), R14
	ADDQ $const_slack, R14
	CMPQ R14, 8(R15)
	JGE  any
	ADDQ $8, BX
	JMP  lengths

	// Keys of 4 to 7 bytes, in two halves that may overlap, as longer ones are.
short_key:
	LEAQ -4(R8), AX
	CMPQ AX, $4
	JCC  any
	MOVL (SI), AX
	MOVL -4(SI)(R8*1), DX
	JMP  hash

compare_short:
	MOVL (SI), AX
	CMPL AX, (BX)
	JNE  any
	MOVL -4(SI)(R8*1), AX
	CMPL AX, -4(BX)(R8*1)
	JNE  any
	JMP  copy

	// Values of 4 to 15 bytes, and those that are longer than is copied here.
short_value:
	CMPQ R14, $8
	JCS  value4
	CMPQ R14, $16
	JCC  any
	MOVQ (SI), AX
	MOVQ AX, (DX)
	MOVQ -8(SI)(R14*1), AX
	MOVQ AX, -8(DX)(R14*1)
	JMP  copied

value4:
	CMPQ R14, $4
	JCS  any
	MOVL (SI), AX
	MOVL AX, (DX)
	MOVL -4(SI)(R14*1), AX
	MOVL AX, -4(DX)(R14*1)
	JMP  copied

	// shard.absent
absent:
	CMPL const_bucketLink(R13), $0
	JNE  any
	CMPQ R11, shard_epoch(R10)
	JNE  any
	CMPQ R12, (shard_table+const_tableShape)(R10)
	JNE  any
	STRIPE
	INCQ 8(AX)
	MOVQ dst_base+8(FP), AX
	MOVQ AX, value_base+48(FP)
	MOVQ dst_len+16(FP), AX
	MOVQ AX, value_len+56(FP)
	MOVQ dst_cap+24(FP), AX
	MOVQ AX, value_cap+64(FP)
	MOVB $0, ok+72(FP)
	RET

any:
	JMP ·getAny(SB)
