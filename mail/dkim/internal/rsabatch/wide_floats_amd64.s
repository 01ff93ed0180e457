//go:build !purego

#include "textflag.h"
#include "rows_amd64.h"

// As in floats_amd64.s, but eight lanes at a time, for processors with AVX-512 but not IFMA. The sums are in Z0 to Z19. Z20 is a limb of
// one factor, Z21 the quotient and Z22 the inverse, all as floating-point numbers; Z23 is 2^104, Z24 2^104 + 2^52, Z25 2^52, Z26 the
// mask of a limb. Instructions say themselves how they round.

// FLOAT makes a floating-point number of a limb.
#define FLOAT(LIMB) \
	VPORQ Z25, LIMB, LIMB; \
	VSUBPD Z25, LIMB, LIMB

// PRODUCT multiplies what is at P with X. The halves come with their constants.
#define PRODUCT(P, X, HIGH, LOW) \
	VMOVUPD P, HIGH;                   \
	VFMADD213PD.RZ_SAE Z23, X, HIGH;   \
	VSUBPD HIGH, Z24, LOW;             \
	VFMADD231PD P, X, LOW

// ADD adds a product to two sums.
#define ADD(OFFSET, SUM, NEXT) \
	PRODUCT(OFFSET(AX), Z20, Z27, Z28); \
	VPADDQ Z28, SUM, SUM;               \
	VPADDQ Z27, NEXT, NEXT

// ADD_LAST adds the last product of a row. Its high half begins the next sum, in Z29.
#define ADD_LAST \
	PRODUCT(1216(AX), Z20, Z27, Z28); \
	VPADDQ Z28, Z19, Z19;             \
	VPADDQ.BCST 160(R8), Z27, Z29;    \
	ADDQ $8, R8

// DROP makes the lowest sum a multiple of 2^52 and carries what is above. From here on the sums move down by one.
#define DROP \
	PRODUCT(0(CX), Z21, Z27, Z28); \
	VPADDQ Z28, Z0, Z0;            \
	VPSRLQ $52, Z0, Z0;            \
	VPADDQ Z1, Z0, Z0;             \
	VPADDQ Z27, Z0, Z0

// REDUCE adds a product with the modulus.
#define REDUCE(OFFSET, BELOW, SUM, NEXT) \
	PRODUCT(OFFSET(CX), Z21, Z27, Z28); \
	VPADDQ Z28, BELOW, BELOW;           \
	VPADDQ Z27, NEXT, SUM

// QUOTIENT computes how many times the modulus makes the lowest sum a multiple of 2^52.
#define QUOTIENT(RESULT) \
	VPANDQ Z26, Z0, Z30;         \
	FLOAT(Z30);                  \
	PRODUCT(Z22, Z30, Z27, Z28); \
	VSUBPD Z25, Z28, RESULT

// START loads the constants.
#define START \
	MOVQ $0x4670000000000000, R10; \
	VPBROADCASTQ R10, Z23;         \
	MOVQ $0x4670000000000001, R10; \
	VPBROADCASTQ R10, Z24;         \
	MOVQ $0x4330000000000000, R10; \
	VPBROADCASTQ R10, Z25;         \
	VPTERNLOGQ $0xff, Z26, Z26, Z26; \
	VPSRLQ $12, Z26, Z26;          \
	VMOVDQU64 (R11), Z22

// STORE writes a limb and carries what is above its 52 bits to the next.
#define STORE(OFFSET, SUM, NEXT) \
	VPSRLQ $52, SUM, Z27;    \
	VPADDQ Z27, NEXT, NEXT;  \
	VPANDQ Z26, SUM, SUM;    \
	VMOVDQU64 SUM, OFFSET(DX)

// SUMS begins the sums.
#define SUMS \
	VPBROADCASTQ 0(R8), Z0; \
	VPBROADCASTQ 8(R8), Z1; \
	VPBROADCASTQ 16(R8), Z2; \
	VPBROADCASTQ 24(R8), Z3; \
	VPBROADCASTQ 32(R8), Z4; \
	VPBROADCASTQ 40(R8), Z5; \
	VPBROADCASTQ 48(R8), Z6; \
	VPBROADCASTQ 56(R8), Z7; \
	VPBROADCASTQ 64(R8), Z8; \
	VPBROADCASTQ 72(R8), Z9; \
	VPBROADCASTQ 80(R8), Z10; \
	VPBROADCASTQ 88(R8), Z11; \
	VPBROADCASTQ 96(R8), Z12; \
	VPBROADCASTQ 104(R8), Z13; \
	VPBROADCASTQ 112(R8), Z14; \
	VPBROADCASTQ 120(R8), Z15; \
	VPBROADCASTQ 128(R8), Z16; \
	VPBROADCASTQ 136(R8), Z17; \
	VPBROADCASTQ 144(R8), Z18; \
	VPBROADCASTQ 152(R8), Z19

// REDUCE_REST adds the products with the modulus from the third limb on.
#define REDUCE_REST \
	REDUCE(128, Z1, Z2, Z3); \
	REDUCE(192, Z2, Z3, Z4); \
	REDUCE(256, Z3, Z4, Z5); \
	REDUCE(320, Z4, Z5, Z6); \
	REDUCE(384, Z5, Z6, Z7); \
	REDUCE(448, Z6, Z7, Z8); \
	REDUCE(512, Z7, Z8, Z9); \
	REDUCE(576, Z8, Z9, Z10); \
	REDUCE(640, Z9, Z10, Z11); \
	REDUCE(704, Z10, Z11, Z12); \
	REDUCE(768, Z11, Z12, Z13); \
	REDUCE(832, Z12, Z13, Z14); \
	REDUCE(896, Z13, Z14, Z15); \
	REDUCE(960, Z14, Z15, Z16); \
	REDUCE(1024, Z15, Z16, Z17); \
	REDUCE(1088, Z16, Z17, Z18); \
	REDUCE(1152, Z17, Z18, Z19); \
	REDUCE(1216, Z18, Z19, Z29)

// FINISH writes the sums as limbs.
#define FINISH \
	STORE(0, Z0, Z1); \
	STORE(64, Z1, Z2); \
	STORE(128, Z2, Z3); \
	STORE(192, Z3, Z4); \
	STORE(256, Z4, Z5); \
	STORE(320, Z5, Z6); \
	STORE(384, Z6, Z7); \
	STORE(448, Z7, Z8); \
	STORE(512, Z8, Z9); \
	STORE(576, Z9, Z10); \
	STORE(640, Z10, Z11); \
	STORE(704, Z11, Z12); \
	STORE(768, Z12, Z13); \
	STORE(832, Z13, Z14); \
	STORE(896, Z14, Z15); \
	STORE(960, Z15, Z16); \
	STORE(1024, Z16, Z17); \
	STORE(1088, Z17, Z18); \
	STORE(1152, Z18, Z19); \
	VPANDQ Z26, Z19, Z19; \
	VMOVDQU64 Z19, 1216(DX); \
	VZEROUPPER

// CONVERT writes a limb of a as a floating-point number.
#define CONVERT(OFFSET) \
	VPORQ OFFSET(SI), Z25, Z27; \
	VSUBPD Z25, Z27, Z27;       \
	VMOVUPD Z27, OFFSET(AX)

// func multiplyWideFloats(out, a, b, m *number, inverse *lanes, scratch *number, first *firstSums)
TEXT ·multiplyWideFloats(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), BX
	MOVQ m+24(FP), CX
	MOVQ inverse+32(FP), R11
	MOVQ scratch+40(FP), AX
	MOVQ first+48(FP), R8
	START
	SUMS
	EACH(CONVERT)
	MOVQ $20, R9

row:
	VMOVDQU64 (BX), Z20
	ADDQ $64, BX
	FLOAT(Z20)
	ADD(0, Z0, Z1)
	QUOTIENT(Z21)
	ADD(64, Z1, Z2)
	ADD(128, Z2, Z3)
	ADD(192, Z3, Z4)
	ADD(256, Z4, Z5)
	ADD(320, Z5, Z6)
	ADD(384, Z6, Z7)
	ADD(448, Z7, Z8)
	ADD(512, Z8, Z9)
	ADD(576, Z9, Z10)
	ADD(640, Z10, Z11)
	ADD(704, Z11, Z12)
	ADD(768, Z12, Z13)
	ADD(832, Z13, Z14)
	ADD(896, Z14, Z15)
	ADD(960, Z15, Z16)
	ADD(1024, Z16, Z17)
	ADD(1088, Z17, Z18)
	ADD(1152, Z18, Z19)
	ADD_LAST
	DROP
	REDUCE(64, Z0, Z1, Z2)
	REDUCE_REST
	DECQ R9
	JNZ row
	FINISH
	RET

// DOUBLE writes a limb of twice a. Z28 is the limb below on entry and this one on return.
#define DOUBLE(OFFSET) \
	VPSRLQ $51, Z28, Z27;       \
	VMOVDQU64 OFFSET(SI), Z28;  \
	VPADDQ Z28, Z28, Z29;       \
	VPORQ Z27, Z29, Z29;        \
	VPANDQ Z26, Z29, Z29;       \
	FLOAT(Z29);                 \
	VMOVUPD Z29, OFFSET(AX)

// func squareWideFloats(out, a, m *number, inverse *lanes, scratch *number, first *firstSums)
TEXT ·squareWideFloats(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DX
	MOVQ a+8(FP), SI
	MOVQ m+16(FP), CX
	MOVQ inverse+24(FP), R11
	MOVQ scratch+32(FP), AX
	MOVQ first+40(FP), R8
	START
	VPXORQ Z28, Z28, Z28
	EACH(DOUBLE)
	VMOVDQU64 (SI), Z20
	FLOAT(Z20)
	PRODUCT(Z20, Z20, Z27, Z0)
	QUOTIENT(Z21)
	SUMS
	MOVQ AX, BX
	XORQ R9, R9

row:
	VMOVDQU64 (SI), Z20
	FLOAT(Z20)
	VMOVUPD Z20, (BX)
	CMPQ R9, $19
	JEQ row19
	VMOVDQU64 64(SI), Z27
	VPADDQ Z27, Z27, Z27
	VPANDQ Z26, Z27, Z27
	FLOAT(Z27)
	VMOVUPD Z27, 64(BX)
	ENTER

row0:
	ADD(0, Z0, Z1)
row1:
	ADD(64, Z1, Z2)
row2:
	ADD(128, Z2, Z3)
row3:
	ADD(192, Z3, Z4)
row4:
	ADD(256, Z4, Z5)
row5:
	ADD(320, Z5, Z6)
row6:
	ADD(384, Z6, Z7)
row7:
	ADD(448, Z7, Z8)
row8:
	ADD(512, Z8, Z9)
row9:
	ADD(576, Z9, Z10)
row10:
	ADD(640, Z10, Z11)
row11:
	ADD(704, Z11, Z12)
row12:
	ADD(768, Z12, Z13)
row13:
	ADD(832, Z13, Z14)
row14:
	ADD(896, Z14, Z15)
row15:
	ADD(960, Z15, Z16)
row16:
	ADD(1024, Z16, Z17)
row17:
	ADD(1088, Z17, Z18)
row18:
	ADD(1152, Z18, Z19)
row19:
	ADD_LAST
	DROP
	REDUCE(64, Z0, Z1, Z2)
	QUOTIENT(Z31) // of the next row, so that it need not wait
	REDUCE_REST
	VMOVAPD Z31, Z21
	ADDQ $64, SI
	ADDQ $64, BX
	INCQ R9
	CMPQ R9, $20
	JNE row
	FINISH
	RET
