//go:build !race && !firn_skip_validation

#include "go_asm.h"
#include "textflag.h"

// The steps of a lookup without a lock, in the order of Tier.get's, which
// docs/internals/CONCURRENCY.md argues about. Each is Go's function of the name in its comment, for
// the usual case; what is unusual it leaves to the code at the label that it is given,
// before anything was changed. All of a lookup is in registers:
//
//	DI  the tier                   R10 shard
//	SI  key, then the value        R11 its epoch
//	R8  length of the key          R12 shape of the table, then twice the slot
//	R9  hash, then the location    R13 bucket
//	R14 length of the value        R15 record
//	BX  base of the region, then the end of the record's header
//	CX  version of the record and, above that, its shape
//
// AX and DX, and X0 to X3, are free between two steps.

// HASH is Tier.Hash: R9 from SI and R8, for keys of 4 to 1023 bytes.
#define HASH \
	LEAQ -8(R8), AX; \
	CMPQ AX, ·shortKeys(SB); \
	JCC  hash_other; \
	MOVQ (SI), AX; \
	MOVQ -8(SI)(R8*1), DX; \
hash_words: \
	XORQ (Tier_hasher+8)(DI), AX; \
	XORQ (Tier_hasher+16)(DI), DX; \
	MULQ DX; \
	XORQ DX, AX; \
	MOVQ Tier_hasher(DI), DX; \
	XORQ R8, DX; \
	MULQ DX; \
	XORQ DX, AX; \
	ANDQ Tier_hashMask(DI), AX; \
	MOVQ AX, R9

// HASH_OTHER is the part of HASH for keys that are not of 8 to 16 bytes. It stands
// elsewhere, out of the way.
#define HASH_OTHER(unusual, lacking) \
hash_other: \
	CMPQ ·shortKeys(SB), $0; \
	JEQ  lacking; \
	CMPQ R8, $16; \
	JHI  hash_long; \
	CMPQ R8, $4; \
	JCS  unusual; \
	MOVL (SI), AX; \
	MOVL -4(SI)(R8*1), DX; \
	JMP  hash_words; \
hash_long: \
	CMPQ R8, $1023; \
	JHI  unusual; \
	MOVQ SI, BX; \
	LEAQ -16(SI)(R8*1), R12; \
	MOVQ (Tier_hasher+24)(DI), R9; \
	MOVQ (Tier_hasher+32)(DI), R11; \
	LEAQ -16(R12), R13; \
	CMPQ BX, R13; \
	JCC  hash_rest; \
hash_block: \
	MOVQ (BX), AX; \
	XORQ (Tier_hasher+8)(DI), AX; \
	XORQ 8(BX), R9; \
	MULQ R9; \
	XORQ DX, AX; \
	MOVQ AX, R9; \
	MOVQ 16(BX), AX; \
	XORQ (Tier_hasher+16)(DI), AX; \
	XORQ 24(BX), R11; \
	MULQ R11; \
	XORQ DX, AX; \
	MOVQ AX, R11; \
	ADDQ $32, BX; \
	CMPQ BX, R13; \
	JCS  hash_block; \
hash_rest: \
	CMPQ BX, R12; \
	JCC  hash_tail; \
	MOVQ (BX), AX; \
	XORQ (Tier_hasher+8)(DI), AX; \
	XORQ 8(BX), R9; \
	MULQ R9; \
	XORQ DX, AX; \
	MOVQ AX, R9; \
hash_tail: \
	MOVQ (R12), AX; \
	XORQ R9, AX; \
	MOVQ 8(R12), DX; \
	XORQ R11, DX; \
	JMP  hash_words

// SHARD is Tier.shardOf, the epoch and the shape: R10, R11 and R12 from R9.
#define SHARD \
	RORXQ $const_shardShift, R9, R10; \
	ANDQ  Tier_shardMask(DI), R10; \
	IMUL3Q $shard__size, R10, R10; \
	ADDQ  Tier_shards(DI), R10; \
	MOVQ  shard_epoch(R10), R11; \
	MOVQ  (shard_table+const_tableShape)(R10), R12

// BUCKET is index.Table.Home and Offset: R13 and BX from R9, R10 and R12.
#define BUCKET \
	MOVL    (shard_table+const_tableMask)(R10), DX; \
	MOVL    R9, AX; \
	ANDL    DX, AX; \
	SHRL    $1, DX; \
	ANDL    AX, DX; \
	CMPL    AX, R12; \
	CMOVLCC DX, AX; \
	MOVL    (shard_table+const_tableChunkShift)(R10), CX; \
	BZHIL   CX, AX, R13; \
	SHRL    CX, AX; \
	MOVQ    (shard_table+const_tableChunks)(R10), BX; \
	MOVL    (BX)(AX*4), AX; \
	SHLQ    CX, AX; \
	ADDQ    AX, R13; \
	SHLQ    $6, R13; \
	MOVQ    Tier_base(DI), BX; \
	ADDQ    BX, R13

// MATCH is index.Bucket.Match and Matches.Next: twice the first slot in R12, from R13 and
// R9. Behind ten tags come the link and locations. It leaves
// in DX what LOCATION tests, also at absent.
#define MATCH(absent) \
	VMOVDQU      (R13), Y0; \
	MOVQ         R9, DX; \
	SHRQ         $32, DX; \
	MOVL         DX, AX; \
	ANDL         $0x3fff, AX; \
	CMPL         AX, $1; \
	ADCL         $0, AX; \
	XORQ         R9, DX; \
	VMOVD        AX, X1; \
	VPBROADCASTW X1, Y1; \
	VPAND        tagMask<>(SB), Y0, Y0; \
	VPCMPEQW     Y0, Y1, Y0; \
	VPMOVMSKB    Y0, AX; \
	ANDL         $0xfffff, AX; \
	JEQ          absent; \
	TZCNTL       AX, R12

// LOCATION is the location of the slot and where the record lies: R9, R15 and BX from R12,
// R13 and BX; DX is where the key would end in the segment, less a header's 8 bytes.
// Location 0 leads to zeros, in which no key is. In between comes policy.Tuner.Sampled, of
// what MATCH left in DX: the code at sampled notes it in R9's upper half.
#define LOCATION(unusual, sampled) \
	MOVL  const_bucketLocations(R13)(R12*2), R9; \
	MOVQ  Tier_unitShift(DI), CX; \
	SHLXQ CX, R9, R15; \
	MOVQ  Tier_tuner(DI), AX; \
	TESTQ const_tunerMask(AX), DX; \
	JEQ   sampled; \
located: \
	CMPQ  R15, Tier_ghostAt(DI); \
	JCC   unusual; \
	MOVQ  Tier_segMask(DI), DX; \
	ANDQ  R15, DX; \
	ADDQ  R8, DX; \
	ADDQ  BX, R15; \
	LEAQ  8(R15), BX

// RECORD is the version and the lengths: CX and R14. The version is even, the key as long
// as R8, no length is a field of its own, and the record ends in its segment. The code at
// expires looks at the deadline, and comes back to lengths with DX and BX grown by 8.
#define RECORD(unusual, expires) \
	MOVQ  (R15), CX; \
	TESTL $1, CX; \
	JNE   unusual; \
	MOVQ  CX, AX; \
	SHRQ  $52, AX; \
	CMPQ  AX, R8; \
	JNE   expires; \
lengths: \
	RORXQ $32, CX, R14; \
	ANDL  $0xfffff, R14; \
	LEAQ  7(DX)(R14*1), DX; \
	CMPQ  DX, Tier_segMask(DI); \
	JHI   unusual

// NOT_NEAR is clock.near and the deadline: what stands at expires, before it is stored
// and RECORD goes on at lengths. The deadline is in R14 then.
#define NOT_NEAR(unusual) \
	SUBQ $1024, AX; \
	CMPQ AX, R8; \
	JNE  unusual; \
	MOVQ (Tier_clock+times_coarse)(DI), R14; \
	MOVQ (R14), R14; \
	ADDQ $const_slack, R14; \
	CMPQ R14, (BX); \
	JGE  unusual; \
	MOVQ (BX), R14; \
	ADDQ $8, BX; \
	ADDQ $8, DX

// SAME_KEY compares the key with the record's, in words of which the last may overlap
// the one before, as all here do. Then SI is where the value begins.
#define SAME_KEY(unusual) \
	LEAQ -8(R8), AX; \
	CMPQ AX, $8; \
	JHI  key_other; \
	MOVQ (SI), AX; \
	CMPQ AX, (BX); \
	JNE  unusual; \
	MOVQ -8(SI)(R8*1), AX; \
	CMPQ AX, -8(BX)(R8*1); \
	JNE  unusual; \
same_key: \
	LEAQ (BX)(R8*1), SI

// KEY_OTHER is the part of SAME_KEY for keys that are not of 8 to 16 bytes.
#define KEY_OTHER(unusual) \
key_other: \
	CMPQ R8, $16; \
	JHI  key_long; \
	MOVL (SI), AX; \
	CMPL AX, (BX); \
	JNE  unusual; \
	MOVL -4(SI)(R8*1), AX; \
	CMPL AX, -4(BX)(R8*1); \
	JNE  unusual; \
	JMP  same_key; \
key_long: \
	LEAQ      -16(R8), AX; \
	XORL      DX, DX; \
	VPCMPEQB  X2, X2, X2; \
key_block: \
	VMOVDQU   (SI)(DX*1), X0; \
	VPCMPEQB  (BX)(DX*1), X0, X0; \
	VPAND     X0, X2, X2; \
	ADDQ      $16, DX; \
	CMPQ      DX, AX; \
	JCS       key_block; \
	VMOVDQU   (SI)(AX*1), X0; \
	VPCMPEQB  (BX)(AX*1), X0, X0; \
	VPAND     X0, X2, X2; \
	VPMOVMSKB X2, AX; \
	CMPL      AX, $0xffff; \
	JNE       unusual; \
	JMP       same_key

// COPY copies the value from SI to behind dst, and nothing behind that, if the epoch still
// says that its length can be believed: shard.reused. What it does
// depends on a length that is compared with the value's and not taken from it: that of the
// last Get with these counters, which leaves R8 point to them. The value's own is known
// only when the record has come from memory, and until then the processor would not load
// ahead for the next Gets past a store to an address that depends on it, nor past many
// branches.
#define COPY(unusual) \
	CMPQ R11, shard_epoch(R10); \
	JNE  unusual; \
	STRIPE; \
	MOVQ AX, R8; \
	MOVQ stripe_length(R8), AX; \
	CMPQ AX, R14; \
	JNE  copy_other; \
copy_length: \
	MOVQ dst_len+16(FP), DX; \
	LEAQ (DX)(AX*1), BX; \
	CMPQ BX, dst_cap+24(FP); \
	JHI  unusual; \
	ADDQ dst_base+8(FP), DX; \
	LEAQ -32(AX), BX; \
	CMPQ AX, $32; \
	JCS  copy_short; \
	VMOVDQU (SI)(BX*1), Y1; \
	VMOVDQU Y1, (DX)(BX*1); \
	XORL AX, AX; \
	CMPQ AX, BX; \
	JCC  copied; \
copy_block: \
	VMOVDQU (SI)(AX*1), Y0; \
	VMOVDQU Y0, (DX)(AX*1); \
	ADDQ $32, AX; \
	CMPQ AX, BX; \
	JCS  copy_block; \
copied:

// COPY_SHORT is the part of COPY for values of another length than the last, and for
// those of less than 32 bytes, in halves that may overlap.
#define COPY_SHORT \
copy_other: \
	MOVQ R14, AX; \
	MOVQ AX, stripe_length(R8); \
	JMP  copy_length; \
copy_short: \
	CMPQ AX, $16; \
	JCS  copy_15; \
	VMOVDQU (SI), X0; \
	VMOVDQU -16(SI)(AX*1), X1; \
	VMOVDQU X0, (DX); \
	VMOVDQU X1, -16(DX)(AX*1); \
	JMP  copied; \
copy_15: \
	CMPQ AX, $8; \
	JCS  copy_7; \
	MOVQ (SI), BX; \
	MOVQ -8(SI)(AX*1), SI; \
	MOVQ BX, (DX); \
	MOVQ SI, -8(DX)(AX*1); \
	JMP  copied; \
copy_7: \
	CMPQ AX, $4; \
	JCS  copy_3; \
	MOVL (SI), BX; \
	MOVL -4(SI)(AX*1), SI; \
	MOVL BX, (DX); \
	MOVL SI, -4(DX)(AX*1); \
	JMP  copied; \
copy_3: \
	TESTQ AX, AX; \
	JEQ  copied; \
	MOVB (SI), BX; \
	MOVB BX, (DX); \
	CMPQ AX, $2; \
	JCS  copied; \
	MOVW -2(SI)(AX*1), BX; \
	MOVW BX, -2(DX)(AX*1); \
	JMP  copied

// UNCHANGED is shard.unchanged.
#define UNCHANGED(unusual) \
	CMPL CX, (R15); \
	JNE  unusual; \
	CMPL R9, const_bucketLocations(R13)(R12*2); \
	JNE  unusual; \
	CMPQ R11, shard_epoch(R10); \
	JNE  unusual

// TOUCH is index.Bucket.Touch: nothing, if the frequency is the largest already.
#define TOUCH \
	CMPB 1(R13)(R12*1), $0xc0; \
	JCS  touch; \
touched:

// RAISE is the part of TOUCH that raises the frequency. The word that is compared and
// swapped was there before the location and the epoch were still the same: it is the
// bucket's.
#define RAISE \
touch: \
	MOVL  R12, DX; \
	ANDL  $0x18, DX; \
	LEAQ  (R13)(DX*1), SI; \
	MOVQ  (SI), AX; \
	CMPL  R9, const_bucketLocations(R13)(R12*2); \
	JNE   touched; \
	CMPQ  R11, shard_epoch(R10); \
	JNE   touched; \
	MOVL  R12, CX; \
	ANDL  $6, CX; \
	SHLL  $3, CX; \
	MOVQ  AX, DX; \
	SHRQ  CX, DX; \
	TESTL $0x3fff, DX; \
	JEQ   touched; \
	NOTL  DX; \
	TESTL $0xc000, DX; \
	JEQ   touched; \
	MOVL  $0x4000, DX; \
	SHLQ  CX, DX; \
	ADDQ  AX, DX; \
	LOCK; \
	CMPXCHGQ DX, (SI); \
	JMP   touched

// STILL_ABSENT is shard.absent: the bucket has no match, and did not change. It leaves DX as MATCH
// has.
#define STILL_ABSENT(unusual) \
	CMPL const_bucketLink(R13), $0; \
	JNE  unusual; \
	CMPQ R11, shard_epoch(R10); \
	JNE  unusual; \
	CMPQ R12, (shard_table+const_tableShape)(R10); \
	JNE  unusual

// STRIPE is the counters of this stack, in AX: readCounters.count.
#define STRIPE \
	RORXQ $6, SP, AX; \
	RORXQ $12, SP, DX; \
	XORQ DX, AX; \
	ANDQ (Tier_reads+readCounters_byteMask)(DI), AX; \
	ADDQ Tier_reads(DI), AX

DATA tagMask<>+0(SB)/8, $0x3fff3fff3fff3fff
DATA tagMask<>+8(SB)/8, $0x3fff3fff3fff3fff
DATA tagMask<>+16(SB)/8, $0x3fff3fff3fff3fff
DATA tagMask<>+24(SB)/8, $0x3fff3fff3fff3fff
GLOBL tagMask<>(SB), RODATA|NOPTR, $32

// func getFast(t *Tier, dst []byte, key string) (n int, deadline int64)
//
// getFast is Get for a key of 4 to 1023 bytes that is in its first bucket, or in none,
// with a value that lies in one segment and for which dst has room. It takes the steps
// of Tier.get, in that order, which on this processor is the order in which others see
// them: docs/internals/CONCURRENCY.md has the argument. Whatever else comes up it leaves to
// Tier.get, before anything was changed but the room behind dst.
//
// It is here because a Get of a cold key is two loads that miss every cache, and the
// processor runs ahead into the next Gets meanwhile, as far as it comes: some 300
// instructions. Each that is saved counts there, and what a compiler makes of the same
// steps is twice as long.
TEXT ·getFast(SB), NOSPLIT, $0-64
	MOVQ t+0(FP), DI
	MOVQ key_base+32(FP), SI
	MOVQ key_len+40(FP), R8
	HASH
	SHARD
	BUCKET
	MATCH(absent)
	MOVQ $0, deadline+56(FP)
	LOCATION(unusual, sampled)
	RECORD(unusual, expires)
	SAME_KEY(unusual)
	COPY(unusual)
	UNCHANGED(unusual)
	TOUCH
	INCQ stripe_hits(R8)
	TESTQ R9, R9
	JLT  tell

told:
	MOVQ R14, n+48(FP)
	VZEROUPPER
	RET

expires:
	NOT_NEAR(unusual)
	MOVQ R14, deadline+56(FP)
	JMP  lengths

sampled:
	BTSQ $63, R9
	JMP  located

tell:
	BTSQ $63, R14
	JMP  told

absent:
	STILL_ABSENT(unusual)
	TESTQ Tier_simulatedMask(DI), DX
	JEQ  unusual
	STRIPE
	INCQ stripe_misses(AX)
	MOVQ $const_Absent, n+48(FP)
	VZEROUPPER
	RET

	HASH_OTHER(unusual, lacking)
	KEY_OTHER(unusual)
	COPY_SHORT
	RAISE

unusual:
	MOVQ $const_unusual, n+48(FP)
	VZEROUPPER
	RET

lacking:
	MOVQ $const_unusual, n+48(FP)
	RET
