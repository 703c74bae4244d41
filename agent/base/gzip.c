// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/gzip.h"

#define GZIP_WINDOW (15 + 16) /* the largest; 16 more: a header of gzip, not of zlib */
#define MEMORY      8         /* zlib's default */
#define ROOM_FIRST  65536

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

/* More room, up to one byte more than `most`, which shows that it is too large. */
static int make_room(z_stream *stream, __u8 **bytes, size_t *room, size_t most)
{
	size_t used = *room, larger = used ? 2 * used : ROOM_FIRST;
	__u8 *more;

	if (used > most)
		return -EFBIG;
	if (larger > most + 1)
		larger = most + 1;
	more = realloc(*bytes, larger);
	if (!more)
		return -ENOMEM;
	*bytes = more;
	*room = larger;
	stream->next_out = more + used;
	stream->avail_out = (uInt)(larger - used);
	return 0;
}

static int inflate_all(z_stream *stream, __u8 **bytes, size_t most)
{
	int status = Z_OK, err = 0;
	size_t room = 0;

	while (!err && status == Z_OK) {
		if (!stream->avail_out)
			err = make_room(stream, bytes, &room, most);
		if (!err)
			status = inflate(stream, Z_NO_FLUSH);
	}
	if (err || status == Z_MEM_ERROR)
		return err ? err : -ENOMEM;
	if (status != Z_STREAM_END || stream->avail_in)
		return -EINVAL;
	return stream->total_out > most ? -EFBIG : 0;
}

int gunzip(const __u8 *bytes, size_t size, size_t most, __u8 **ret_bytes, size_t *ret_size)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
	__u8 *plain = NULL;
	int err;

	if (size > UINT_MAX || most >= UINT_MAX)
		return -EFBIG;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	err = inflate_all(&stream, &plain, most);
	*ret_size = stream.total_out;
	inflateEnd(&stream);
	if (err)
		free(plain);
	else
		*ret_bytes = plain;
	return err;
}
