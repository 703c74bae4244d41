/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of an unwind table: in which rows each page of addresses begins, so that a search has a
 * few rows to look at and not all of them. Pure arithmetic.
 */
#ifndef CTXPROP_PROFILE_UNWIND_ROW_INDEX_H
#define CTXPROP_PROFILE_UNWIND_ROW_INDEX_H

#include "profile/sample.h"

/* How many pages the index of a table has. 0: the table has too few rows to need one. */
__u32 row_index_pages(const struct profile_row *row, __u32 count);

/*
 * Fill in all pages; `first`: the number that the table's first row has among the rows of all
 * tables.
 */
void row_index_fill(const struct profile_row *row, __u32 count, __u32 first, __u32 pages,
		    struct profile_page *ret_pages);

#endif
