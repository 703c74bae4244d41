// SPDX-License-Identifier: Apache-2.0
#include "textflag.h"

TEXT ·g(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

TEXT ·lyingRead(SB), NOSPLIT, $0-48
	MOVQ fd+0(FP), DI
	MOVQ buffer+8(FP), SI
	MOVQ length+16(FP), DX
	MOVQ curg+24(FP), R8
	MOVQ lie+32(FP), R10
	MOVQ (R8), R9
	MOVQ R10, (R8)
	MOVQ $0, AX
	SYSCALL
	MOVQ R9, (R8)
	MOVQ AX, ret+40(FP)
	RET
