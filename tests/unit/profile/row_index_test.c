// SPDX-License-Identifier: Apache-2.0
/* By its index a search finds in each table what it finds without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "profile/unwind/row_index.h"

#define ROWS_MAX  500
#define PAGE      (1U << PROFILE_PAGE_SHIFT)
#define FIRST_ROW 7000 /* the number of a table's first row among those of all tables */

/* The number of the first row of a range that is behind an address. */
static __u32 search(const struct profile_row *row, __u32 low, __u32 high, __u32 pc)
{
	while (low < high && row[low - FIRST_ROW].pc <= pc)
		low++;
	return low;
}

static void check_address(const struct profile_row *row, __u32 count,
			  const struct profile_page *page, __u32 pages, __u32 pc)
{
	const __u32 number = pc >> PROFILE_PAGE_SHIFT;
	const __u32 whole = search(row, FIRST_ROW, FIRST_ROW + count, pc);

	if (number < pages)
		assert_int_equal(search(row, page[number].low, page[number].high, pc), whole);
}

static void check_table(const struct profile_row *row, __u32 count)
{
	const __u32 pages = row_index_pages(row, count);
	struct profile_page page[ROWS_MAX];

	assert_in_range(pages, 1, count - 1);
	row_index_fill(row, count, FIRST_ROW, pages, page);
	assert_int_equal(page[0].low, FIRST_ROW);
	assert_int_equal(page[pages - 1].high, FIRST_ROW + count);
	for (__u32 pc = 0; pc < (pages + 1) * PAGE; pc++)
		check_address(row, count, page, pages, pc);
}

/* Tables of any density: pages with many rows, with one, and with none. */
static void finds_the_same(void **state)
{
	struct profile_row row[ROWS_MAX];

	(void)state;
	srand(1);
	for (int table = 0; table < 20; table++) {
		__u32 pc = 0;

		for (__u32 i = 0; i < ROWS_MAX; i++) {
			pc += 1 + (__u32)rand() % (rand() % 100 ? 16 : 4 * PAGE);
			row[i] = (struct profile_row){.pc = pc};
		}
		check_table(row, ROWS_MAX);
	}
}

static void begins_on_a_page(void **state)
{
	const struct profile_row row[] = {
	    {.pc = 0}, {.pc = PAGE - 1}, {.pc = PAGE}, {.pc = 2 * PAGE}, {.pc = 2 * PAGE + 1}};

	(void)state;
	check_table(row, 5);
}

static void not_worth_it(void **state)
{
	const struct profile_row row[] = {{.pc = 1}, {.pc = 2 * PAGE}};

	(void)state;
	assert_int_equal(row_index_pages(row, 2), 0);
	assert_int_equal(row_index_pages(row, 1), 0);
	assert_int_equal(row_index_pages(row, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_the_same),
	    cmocka_unit_test(begins_on_a_page),
	    cmocka_unit_test(not_worth_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
