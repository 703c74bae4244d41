// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"
#include "inspect/process_memory.h"
#include "runtimes/node/text.h"

/* Bytes from an object's beginning, and types of texts: the same in V8 10 to 13. */
#define TAG         1
#define TAG_MASK    3
#define MAP_TYPE    12
#define TEXT_LENGTH 12
#define TEXT_CHARS  16
#define TEXT_FIRST                                                                                 \
	16 /* of a text that consists of two: the first; of one that is another's: that */
#define TEXT_SECOND 24
#define ADDRESS_MIN 4096

#define TYPE_NO_TEXT 0xff80
#define TYPE_FORM    7
#define TYPE_LATIN1  8 /* a byte for each character, not two */
enum { FORM_CHARS = 0, FORM_BOTH = 1, FORM_OTHER = 5 };

#define PARTS_MAX 64 /* of one text that are looked at */
#define OPEN_MAX  16 /* that have yet to be looked at */
#define CHUNK     64 /* characters that are read at a time */

__u64 node_word(int memory, __u64 object, __u32 at)
{
	if ((object & TAG_MASK) != TAG || object < ADDRESS_MIN)
		return 0;
	return process_memory_u64(memory, object - TAG + at);
}

__u32 node_type(int memory, __u64 object)
{
	return (__u16)(node_word(memory, node_word(memory, object, 0), MAP_TYPE));
}

/* Where it was, the address of where it is now stands in place of its map. */
bool node_is_moved(int memory, __u64 object)
{
	const __u64 map = node_word(memory, object, 0);

	return map && (map & TAG_MASK) != TAG;
}

/* Where a text is written to. */
struct out {
	char *at;
	size_t room; /* bytes, without the NUL */
};

/* Returns whether there was room. */
static bool put(struct out *out, __u16 c)
{
	char bytes[UTF8_MAX];
	const size_t size = utf8_encode(c, bytes);

	if (size > out->room) {
		out->room = 0;
		return false;
	}
	for (size_t i = 0; i < size; i++)
		*out->at++ = bytes[i];
	out->room -= size;
	return true;
}

/* Returns whether the characters can be read. */
static bool put_all(int memory, __u64 address, __u32 length, bool latin1, struct out *out)
{
	union {
		__u8 latin1[CHUNK];
		__u16 wide[CHUNK];
	} chunk;
	__u32 count;

	for (; length && out->room; length -= count) {
		const size_t width = latin1 ? sizeof(chunk.latin1[0]) : sizeof(chunk.wide[0]);

		count = length < CHUNK ? length : CHUNK;
		if (process_memory_read(memory, address, &chunk, count * width))
			return false;
		for (__u32 i = 0; i < count; i++)
			if (!put(out, latin1 ? chunk.latin1[i] : chunk.wide[i]))
				return true;
		address += count * width;
	}
	return true;
}

/* The next part. Returns whether it is one that is understood. */
static bool take(int memory, __u64 open[OPEN_MAX], size_t *count, struct out *out)
{
	const __u64 object = open[--*count];
	const __u32 type = node_type(memory, object);

	if (!node_word(memory, object, 0) || node_is_moved(memory, object) ||
	    (type & TYPE_NO_TEXT) || *count + 2 > OPEN_MAX)
		return false;
	switch (type & TYPE_FORM) {
	case FORM_CHARS:
		return put_all(memory, object - TAG + TEXT_CHARS,
			       (__u32)node_word(memory, object, TEXT_LENGTH), type & TYPE_LATIN1,
			       out);
	case FORM_BOTH:
		open[(*count)++] = node_word(memory, object, TEXT_SECOND);
		open[(*count)++] = node_word(memory, object, TEXT_FIRST);
		return true;
	case FORM_OTHER:
		open[(*count)++] = node_word(memory, object, TEXT_FIRST);
		return true;
	default:
		return false;
	}
}

bool node_text(int memory, __u64 object, char *ret, size_t size)
{
	struct out out = {ret, size - 1};
	__u64 open[OPEN_MAX] = {object};
	size_t count = 1;
	bool is_text = true;

	for (int i = 0; i < PARTS_MAX && count && out.room && is_text; i++)
		is_text = take(memory, open, &count, &out);
	*out.at = '\0';
	return is_text && (!count || !out.room);
}
