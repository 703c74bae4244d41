// SPDX-License-Identifier: Apache-2.0
#include "profile/unwind/row_index.h"

__u32 row_index_pages(const struct profile_row *row, __u32 count)
{
	const __u32 pages = count ? (row[count - 1].pc >> PROFILE_PAGE_SHIFT) + 1 : 0;

	return pages < count ? pages : 0;
}

void row_index_fill(const struct profile_row *row, __u32 count, __u32 first, __u32 pages,
		    struct profile_page *ret_pages)
{
	__u32 at = 0;

	for (__u32 page = 0; page < pages; page++) {
		ret_pages[page].low = first + at;
		while (at < count && row[at].pc >> PROFILE_PAGE_SHIFT == page)
			at++;
		ret_pages[page].high = first + at;
	}
}
