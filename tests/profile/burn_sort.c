// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "burn.h"

#define NUMBERS 10000 /* to sort them takes some 300 us */
#define TURNS   16    /* so that to look at the clock is nothing beside it */

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

	for (uint32_t i = 0; !numbers[0] && i < NUMBERS; i++)
		numbers[i] = (i + 1) * 2654435761U;
	for (int turn = 0; turn < TURNS; turn++)
		qsort(numbers, NUMBERS, sizeof(numbers[0]), turn & 1 ? falling : rising);
}
