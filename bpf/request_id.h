/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The value of an x-request-id field, as a number: it is only ever compared with others of the same
 * process. (Who can choose values of equal numbers can as well choose equal values.)
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_REQUEST_ID_H
#define CTXPROP_REQUEST_ID_H

#include <linux/types.h>

/* Shorter values are no ids: "-", "none", "test" stand in more than one request. */
#define REQUEST_ID_MIN 8
#define REQUEST_ID_MAX 128

/* A value, as far as it has passed; all zero is a fresh one. */
struct request_id {
	__u64 hash;
	__u32 len; /* without blanks; above REQUEST_ID_MAX: not to be used */
	__u32 reserved;
};

/* A value begins. Of two fields neither counts. */
static inline void request_id_begin(struct request_id *id)
{
	if (id->len)
		id->len = REQUEST_ID_MAX + 1;
}

/* The next byte of a value. Blanks may stand behind one, too. */
static inline void request_id_feed(struct request_id *id, __u8 byte)
{
	if (byte == ' ' || byte == '\t')
		return;
	/* The steps of FNV-1a. */
	id->hash = (id->hash ^ byte) * 0x100000001b3ull;
	if (id->len <= REQUEST_ID_MAX)
		id->len++;
}

/* The number of a value that has passed; 0: there was none that can be used. */
static inline __u64 request_id_number(const struct request_id *id)
{
	return id->len >= REQUEST_ID_MIN && id->len <= REQUEST_ID_MAX ? id->hash | 1 : 0;
}

#endif
