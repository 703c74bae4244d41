// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/gzip.h"

#define GZIP_WINDOW (15 + 16) /* the largest; 16 more: a header of gzip, not of zlib */
#define MEMORY      8         /* zlib's default */

int gzip(const __u8 *bytes, size_t size, __u8 **ret_bytes, size_t *ret_size)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
	uLong room;

	/* The fastest level: what is sent and written here is full of repetitions. */
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, (uLong)size);
	*ret_bytes = malloc(room);
	if (*ret_bytes) {
		stream.next_out = *ret_bytes;
		stream.avail_out = (uInt)room;
		deflate(&stream, Z_FINISH); /* ends at once: there is room for all of it */
		*ret_size = stream.total_out;
	}
	deflateEnd(&stream);
	return *ret_bytes ? 0 : -ENOMEM;
}
