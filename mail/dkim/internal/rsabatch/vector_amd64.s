//go:build !purego

#include "textflag.h"

// A number is twenty limbs of 52 bits, and each limb a vector with one lane for each of eight numbers:
// limb j of all eight is at offset 64*j. AX, BX and CX hold a, b and the modulus; Z31 the bits of a limb.

// LOW adds the low halves of the products of every limb of the numbers at P with the limb in X.
#define LOW(P, X, A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19) \
	VPMADD52LUQ 0(P), X, A0;     \
	VPMADD52LUQ 64(P), X, A1;    \
	VPMADD52LUQ 128(P), X, A2;   \
	VPMADD52LUQ 192(P), X, A3;   \
	VPMADD52LUQ 256(P), X, A4;   \
	VPMADD52LUQ 320(P), X, A5;   \
	VPMADD52LUQ 384(P), X, A6;   \
	VPMADD52LUQ 448(P), X, A7;   \
	VPMADD52LUQ 512(P), X, A8;   \
	VPMADD52LUQ 576(P), X, A9;   \
	VPMADD52LUQ 640(P), X, A10;  \
	VPMADD52LUQ 704(P), X, A11;  \
	VPMADD52LUQ 768(P), X, A12;  \
	VPMADD52LUQ 832(P), X, A13;  \
	VPMADD52LUQ 896(P), X, A14;  \
	VPMADD52LUQ 960(P), X, A15;  \
	VPMADD52LUQ 1024(P), X, A16; \
	VPMADD52LUQ 1088(P), X, A17; \
	VPMADD52LUQ 1152(P), X, A18; \
	VPMADD52LUQ 1216(P), X, A19

// HIGH adds the high halves.
#define HIGH(P, X, A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19) \
	VPMADD52HUQ 0(P), X, A0;     \
	VPMADD52HUQ 64(P), X, A1;    \
	VPMADD52HUQ 128(P), X, A2;   \
	VPMADD52HUQ 192(P), X, A3;   \
	VPMADD52HUQ 256(P), X, A4;   \
	VPMADD52HUQ 320(P), X, A5;   \
	VPMADD52HUQ 384(P), X, A6;   \
	VPMADD52HUQ 448(P), X, A7;   \
	VPMADD52HUQ 512(P), X, A8;   \
	VPMADD52HUQ 576(P), X, A9;   \
	VPMADD52HUQ 640(P), X, A10;  \
	VPMADD52HUQ 704(P), X, A11;  \
	VPMADD52HUQ 768(P), X, A12;  \
	VPMADD52HUQ 832(P), X, A13;  \
	VPMADD52HUQ 896(P), X, A14;  \
	VPMADD52HUQ 960(P), X, A15;  \
	VPMADD52HUQ 1024(P), X, A16; \
	VPMADD52HUQ 1088(P), X, A17; \
	VPMADD52HUQ 1152(P), X, A18; \
	VPMADD52HUQ 1216(P), X, A19

// ROW adds a times one limb of b, and as many times the modulus as make the lowest limb a multiple of 2^52. That limb is then
// dropped: what was limb 1 is limb 0 of the next row, and the register of the dropped one holds the highest.
#define ROW(A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19) \
	VMOVDQU64 (BX), Z20;                                                                                          \
	ADDQ $64, BX;                                                                                                 \
	LOW(AX, Z20, A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19);       \
	VPXORQ Z21, Z21, Z21;                                                                                         \
	VPMADD52LUQ A0, Z22, Z21;                                                                                     \
	LOW(CX, Z21, A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19);       \
	VPSRLQ $52, A0, Z23;                                                                                          \
	VPADDQ Z23, A1, A1;                                                                                           \
	VPXORQ A0, A0, A0;                                                                                            \
	HIGH(AX, Z20, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A0);      \
	HIGH(CX, Z21, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A0)

// STORE writes a limb and carries what is above its 52 bits to the next.
#define STORE(OFFSET, A, NEXT) \
	VPSRLQ $52, A, Z23;      \
	VPADDQ Z23, NEXT, NEXT;  \
	VPANDQ Z31, A, A;        \
	VMOVDQU64 A, OFFSET(DX)

// func multiply(out, a, b, m *number, inverse *lanes)
TEXT ·multiply(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DX
	MOVQ a+8(FP), AX
	MOVQ b+16(FP), BX
	MOVQ m+24(FP), CX
	MOVQ inverse+32(FP), SI
	VMOVDQU64 (SI), Z22
	VPTERNLOGQ $0xff, Z31, Z31, Z31
	VPSRLQ $12, Z31, Z31
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	ROW(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19)
	ROW(Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0)
	ROW(Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1)
	ROW(Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2)
	ROW(Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3)
	ROW(Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4)
	ROW(Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5)
	ROW(Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6)
	ROW(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ROW(Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8)
	ROW(Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9)
	ROW(Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10)
	ROW(Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11)
	ROW(Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12)
	ROW(Z14, Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13)
	ROW(Z15, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14)
	ROW(Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	ROW(Z17, Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16)
	ROW(Z18, Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17)
	ROW(Z19, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18)
	STORE(0, Z0, Z1)
	STORE(64, Z1, Z2)
	STORE(128, Z2, Z3)
	STORE(192, Z3, Z4)
	STORE(256, Z4, Z5)
	STORE(320, Z5, Z6)
	STORE(384, Z6, Z7)
	STORE(448, Z7, Z8)
	STORE(512, Z8, Z9)
	STORE(576, Z9, Z10)
	STORE(640, Z10, Z11)
	STORE(704, Z11, Z12)
	STORE(768, Z12, Z13)
	STORE(832, Z13, Z14)
	STORE(896, Z14, Z15)
	STORE(960, Z15, Z16)
	STORE(1024, Z16, Z17)
	STORE(1088, Z17, Z18)
	STORE(1152, Z18, Z19)
	VPANDQ Z31, Z19, Z19
	VMOVDQU64 Z19, 1216(DX)
	VZEROUPPER
	RET

// func choose(out *number, table *[16]number, index *lanes)
TEXT ·choose(SB), NOSPLIT, $0-24
	MOVQ out+0(FP), DX
	MOVQ table+8(FP), AX
	MOVQ index+16(FP), SI
	VMOVDQU64 (SI), Z22
	VPTERNLOGQ $0xff, Z21, Z21, Z21
	VPXORQ Z23, Z23, Z23
	MOVQ $16, CX

next:
	VPCMPEQQ Z22, Z23, K1
	VMOVDQU64 0(AX), K1, Z0
	VMOVDQU64 64(AX), K1, Z1
	VMOVDQU64 128(AX), K1, Z2
	VMOVDQU64 192(AX), K1, Z3
	VMOVDQU64 256(AX), K1, Z4
	VMOVDQU64 320(AX), K1, Z5
	VMOVDQU64 384(AX), K1, Z6
	VMOVDQU64 448(AX), K1, Z7
	VMOVDQU64 512(AX), K1, Z8
	VMOVDQU64 576(AX), K1, Z9
	VMOVDQU64 640(AX), K1, Z10
	VMOVDQU64 704(AX), K1, Z11
	VMOVDQU64 768(AX), K1, Z12
	VMOVDQU64 832(AX), K1, Z13
	VMOVDQU64 896(AX), K1, Z14
	VMOVDQU64 960(AX), K1, Z15
	VMOVDQU64 1024(AX), K1, Z16
	VMOVDQU64 1088(AX), K1, Z17
	VMOVDQU64 1152(AX), K1, Z18
	VMOVDQU64 1216(AX), K1, Z19
	VPSUBQ Z21, Z23, Z23
	ADDQ $1280, AX
	DECQ CX
	JNZ next
	VMOVDQU64 Z0, 0(DX)
	VMOVDQU64 Z1, 64(DX)
	VMOVDQU64 Z2, 128(DX)
	VMOVDQU64 Z3, 192(DX)
	VMOVDQU64 Z4, 256(DX)
	VMOVDQU64 Z5, 320(DX)
	VMOVDQU64 Z6, 384(DX)
	VMOVDQU64 Z7, 448(DX)
	VMOVDQU64 Z8, 512(DX)
	VMOVDQU64 Z9, 576(DX)
	VMOVDQU64 Z10, 640(DX)
	VMOVDQU64 Z11, 704(DX)
	VMOVDQU64 Z12, 768(DX)
	VMOVDQU64 Z13, 832(DX)
	VMOVDQU64 Z14, 896(DX)
	VMOVDQU64 Z15, 960(DX)
	VMOVDQU64 Z16, 1024(DX)
	VMOVDQU64 Z17, 1088(DX)
	VMOVDQU64 Z18, 1152(DX)
	VMOVDQU64 Z19, 1216(DX)
	VZEROUPPER
	RET
