// SPDX-License-Identifier: Apache-2.0
#include "burn.h"

#define ROUNDS 20000 /* some 10 us */

void burn_round(void)
{
	volatile uint32_t x = 1;

	for (int i = 0; i < ROUNDS; i++)
		x = x * 1664525 + 1013904223;
}
