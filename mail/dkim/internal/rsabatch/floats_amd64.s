//go:build !purego

#include "textflag.h"
#include "rows_amd64.h"

// The same numbers as in integers_amd64.s, for processors with AVX2 and FMA: four of the eight lanes at a time, so that limb j is at
// offset 64*j of the half. These processors multiply no integers of 52 bits, but floating-point numbers, and those exactly if one
// looks twice. x*y + 2^104, rounded toward zero, holds the upper 52 bits of the product x*y as its mantissa; x*y less those, plus 2^52,
// holds the lower ones. As integers the two are the halves of the product and a constant each (the exponents of 2^104 and 2^52). The
// sums begin below zero by as many constants as will come, so that these are gone when a sum is complete.
//
// AX points to one factor as floating-point numbers, BX to the limbs of the other, CX to the modulus as floating-point numbers, DI to
// the sums, R8 to what the sums begin with, DX to the result. Y0 is 2^104, Y1 2^104 + 2^52, Y2 2^52, Y3 the mask of a limb, Y15 the inverse.

// FLOAT makes a floating-point number of a limb.
#define FLOAT(LIMB) \
	VPOR Y2, LIMB, LIMB; \
	VSUBPD Y2, LIMB, LIMB

// PRODUCT multiplies what is at P with X. The halves come with their constants.
#define PRODUCT(P, X, HIGH, LOW) \
	VMOVAPD Y0, HIGH;        \
	VFMADD231PD P, X, HIGH;  \
	VSUBPD HIGH, Y1, LOW;    \
	VFMADD231PD P, X, LOW

// ADD adds a product to the sums: LOW to the one at OFFSET, with the high half of the product before it. HIGH is left for the next.
#define ADD(OFFSET, BEFORE, HIGH) \
	PRODUCT(OFFSET(AX), Y4, HIGH, Y9); \
	VPADDQ BEFORE, Y9, Y9;             \
	VPADDQ OFFSET(DI), Y9, Y9;         \
	VMOVDQU Y9, OFFSET(DI)

// REDUCE adds the product with the modulus likewise. The sums move down by one.
#define REDUCE(OFFSET, BELOW, BEFORE, HIGH) \
	PRODUCT(OFFSET(CX), Y5, HIGH, Y9); \
	VPADDQ BEFORE, Y9, Y9;             \
	VPADDQ OFFSET(DI), Y9, Y9;         \
	VMOVDQU Y9, BELOW(DI)

// QUOTIENT computes how many times the modulus makes the limb in Y10 zero.
#define QUOTIENT(RESULT) \
	VPAND Y3, Y10, Y10;             \
	FLOAT(Y10);                     \
	PRODUCT(Y15, Y10, Y11, Y12);    \
	VSUBPD Y2, Y12, RESULT

// DROP makes the lowest sum a multiple of 2^52 and carries what is above into Y6.
#define DROP \
	PRODUCT(0(CX), Y5, Y8, Y9);  \
	VPADDQ 0(DI), Y9, Y9;        \
	VPSRLQ $52, Y9, Y9;          \
	VPADDQ Y8, Y9, Y6

// BEGIN_TOP keeps the high half of the last product, in Y7, for the new highest sum; END_TOP completes that.
#define BEGIN_TOP \
	VPBROADCASTQ 160(R8), Y14;  \
	ADDQ $8, R8;                \
	VPADDQ Y7, Y14, Y14

#define END_TOP \
	VPADDQ Y7, Y14, Y14;        \
	VMOVDQU Y14, 1216(DI)

// START loads the constants, lets arithmetic round toward zero and goes to the right half of the lanes.
#define START \
	STMXCSR rounding-4(SP);       \
	MOVL rounding-4(SP), R10;     \
	ORL $0x6000, R10;             \
	MOVL R10, toward-8(SP);       \
	LDMXCSR toward-8(SP);         \
	MOVQ $0x4670000000000000, R10; \
	VMOVQ R10, X0;                \
	VPBROADCASTQ X0, Y0;          \
	MOVQ $0x4670000000000001, R10; \
	VMOVQ R10, X1;                \
	VPBROADCASTQ X1, Y1;          \
	MOVQ $0x4330000000000000, R10; \
	VMOVQ R10, X2;                \
	VPBROADCASTQ X2, Y2;          \
	VPCMPEQQ Y3, Y3, Y3;          \
	VPSRLQ $12, Y3, Y3;           \
	VMOVDQU (R11), Y15

// SUM gives a sum its first value, CARRY writes a limb of the result. Y6 is carried.
#define SUM(INDEX, OFFSET) \
	VPBROADCASTQ INDEX(R8), Y8; \
	VMOVDQU Y8, OFFSET(DI)

#define CARRY(OFFSET) \
	VPADDQ OFFSET(DI), Y6, Y6; \
	VPAND Y3, Y6, Y8;          \
	VMOVDQU Y8, OFFSET(DX);    \
	VPSRLQ $52, Y6, Y6

// SUMS begins all of them.
#define SUMS \
	SUM(0, 0); \
	SUM(8, 64); \
	SUM(16, 128); \
	SUM(24, 192); \
	SUM(32, 256); \
	SUM(40, 320); \
	SUM(48, 384); \
	SUM(56, 448); \
	SUM(64, 512); \
	SUM(72, 576); \
	SUM(80, 640); \
	SUM(88, 704); \
	SUM(96, 768); \
	SUM(104, 832); \
	SUM(112, 896); \
	SUM(120, 960); \
	SUM(128, 1024); \
	SUM(136, 1088); \
	SUM(144, 1152); \
	SUM(152, 1216)

// REDUCE_REST adds the products with the modulus from the third limb on.
#define REDUCE_REST \
	REDUCE(128, 64, Y7, Y6); \
	REDUCE(192, 128, Y6, Y7); \
	REDUCE(256, 192, Y7, Y6); \
	REDUCE(320, 256, Y6, Y7); \
	REDUCE(384, 320, Y7, Y6); \
	REDUCE(448, 384, Y6, Y7); \
	REDUCE(512, 448, Y7, Y6); \
	REDUCE(576, 512, Y6, Y7); \
	REDUCE(640, 576, Y7, Y6); \
	REDUCE(704, 640, Y6, Y7); \
	REDUCE(768, 704, Y7, Y6); \
	REDUCE(832, 768, Y6, Y7); \
	REDUCE(896, 832, Y7, Y6); \
	REDUCE(960, 896, Y6, Y7); \
	REDUCE(1024, 960, Y7, Y6); \
	REDUCE(1088, 1024, Y6, Y7); \
	REDUCE(1152, 1088, Y7, Y6); \
	REDUCE(1216, 1152, Y6, Y7)

// FINISH writes the sums as limbs.
#define FINISH \
	VPXOR Y6, Y6, Y6; \
	CARRY(0); \
	CARRY(64); \
	CARRY(128); \
	CARRY(192); \
	CARRY(256); \
	CARRY(320); \
	CARRY(384); \
	CARRY(448); \
	CARRY(512); \
	CARRY(576); \
	CARRY(640); \
	CARRY(704); \
	CARRY(768); \
	CARRY(832); \
	CARRY(896); \
	CARRY(960); \
	CARRY(1024); \
	CARRY(1088); \
	CARRY(1152); \
	CARRY(1216); \
	LDMXCSR rounding-4(SP); \
	VZEROUPPER

// CONVERT writes a limb of a as a floating-point number.
#define CONVERT(OFFSET) \
	VPOR OFFSET(SI), Y2, Y8; \
	VSUBPD Y2, Y8, Y8;       \
	VMOVUPD Y8, OFFSET(AX)

// func multiplyFloats(out, a, b, m *number, inverse *lanes, scratch, sums *number, first *firstSums, lane int)
TEXT ·multiplyFloats(SB), NOSPLIT, $8-72
	MOVQ lane+64(FP), R9
	SHLQ $3, R9
	MOVQ out+0(FP), DX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), BX
	MOVQ m+24(FP), CX
	MOVQ inverse+32(FP), R11
	MOVQ scratch+40(FP), AX
	MOVQ sums+48(FP), DI
	ADDQ R9, DX
	ADDQ R9, SI
	ADDQ R9, BX
	ADDQ R9, CX
	ADDQ R9, R11
	MOVQ first+56(FP), R8
	START
	SUMS
	EACH(CONVERT)
	MOVQ $20, R9

row:
	VMOVDQU (BX), Y4
	ADDQ $64, BX
	FLOAT(Y4)
	VPXOR Y7, Y7, Y7
	ADD(0, Y7, Y6)
	VMOVDQA Y9, Y10
	QUOTIENT(Y5)
	ADD(64, Y6, Y7)
	ADD(128, Y7, Y6)
	ADD(192, Y6, Y7)
	ADD(256, Y7, Y6)
	ADD(320, Y6, Y7)
	ADD(384, Y7, Y6)
	ADD(448, Y6, Y7)
	ADD(512, Y7, Y6)
	ADD(576, Y6, Y7)
	ADD(640, Y7, Y6)
	ADD(704, Y6, Y7)
	ADD(768, Y7, Y6)
	ADD(832, Y6, Y7)
	ADD(896, Y7, Y6)
	ADD(960, Y6, Y7)
	ADD(1024, Y7, Y6)
	ADD(1088, Y6, Y7)
	ADD(1152, Y7, Y6)
	ADD(1216, Y6, Y7)
	BEGIN_TOP
	DROP
	REDUCE(64, 0, Y6, Y7)
	REDUCE_REST
	END_TOP
	DECQ R9
	JNZ row
	FINISH
	RET

// DOUBLE writes a limb of twice a. Y9 is the limb below on entry and this one on return.
#define DOUBLE(OFFSET) \
	VPSRLQ $51, Y9, Y8;       \
	VMOVDQU OFFSET(SI), Y9;   \
	VPADDQ Y9, Y9, Y10;       \
	VPOR Y8, Y10, Y10;        \
	VPAND Y3, Y10, Y10;       \
	FLOAT(Y10);               \
	VMOVUPD Y10, OFFSET(AX)

// func squareFloats(out, a, m *number, inverse *lanes, scratch, sums *number, first *firstSums, lane int)
//
// Every pair of different limbs is multiplied once and counted twice. In row i limb i of a meets itself and twice what is above it; the
// lowest bit of that is cleared, for it came from below. Row i begins at the product of limb i with itself.
TEXT ·squareFloats(SB), NOSPLIT, $8-64
	MOVQ lane+56(FP), R9
	SHLQ $3, R9
	MOVQ out+0(FP), DX
	MOVQ a+8(FP), SI
	MOVQ m+16(FP), CX
	MOVQ inverse+24(FP), R11
	MOVQ scratch+32(FP), AX
	MOVQ sums+40(FP), DI
	ADDQ R9, DX
	ADDQ R9, SI
	ADDQ R9, CX
	ADDQ R9, R11
	MOVQ first+48(FP), R8
	START
	SUMS
	VPXOR Y9, Y9, Y9
	EACH(DOUBLE)
	VMOVDQU (SI), Y4
	FLOAT(Y4)
	PRODUCT(Y4, Y4, Y8, Y10)
	QUOTIENT(Y5)
	MOVQ AX, BX
	XORQ R9, R9

row:
	VMOVDQU (SI), Y4
	FLOAT(Y4)
	VMOVUPD Y4, (BX)
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	CMPQ R9, $19
	JEQ row19
	VMOVDQU 64(SI), Y10
	VPADDQ Y10, Y10, Y10
	VPAND Y3, Y10, Y10
	FLOAT(Y10)
	VMOVUPD Y10, 64(BX)
	ENTER

row0:
	ADD(0, Y7, Y6)
row1:
	ADD(64, Y6, Y7)
row2:
	ADD(128, Y7, Y6)
row3:
	ADD(192, Y6, Y7)
row4:
	ADD(256, Y7, Y6)
row5:
	ADD(320, Y6, Y7)
row6:
	ADD(384, Y7, Y6)
row7:
	ADD(448, Y6, Y7)
row8:
	ADD(512, Y7, Y6)
row9:
	ADD(576, Y6, Y7)
row10:
	ADD(640, Y7, Y6)
row11:
	ADD(704, Y6, Y7)
row12:
	ADD(768, Y7, Y6)
row13:
	ADD(832, Y6, Y7)
row14:
	ADD(896, Y7, Y6)
row15:
	ADD(960, Y6, Y7)
row16:
	ADD(1024, Y7, Y6)
row17:
	ADD(1088, Y6, Y7)
row18:
	ADD(1152, Y7, Y6)
row19:
	ADD(1216, Y6, Y7)
	BEGIN_TOP
	DROP
	REDUCE(64, 0, Y6, Y7)
	VMOVDQA Y9, Y10
	QUOTIENT(Y13) // of the next row, so that it need not wait
	REDUCE_REST
	END_TOP
	VMOVAPD Y13, Y5
	ADDQ $64, SI
	ADDQ $64, BX
	INCQ R9
	CMPQ R9, $20
	JNE row
	FINISH
	RET
