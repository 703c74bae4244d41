// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "burn.h"

#define NUMBERS 1000 /* to sort takes some 20 us */

static int rising(const void *a, const void *b)
{
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

static int falling(const void *a, const void *b)
{
	return rising(b, a);
}

/* Each time in the other order than the last. */
void burn_round(void)
{
	static _Thread_local uint32_t numbers[NUMBERS];
	static _Thread_local int turn;

	for (uint32_t i = 0; !turn && i < NUMBERS; i++)
		numbers[i] = i * 2654435761U;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), turn++ & 1 ? falling : rising);
}
