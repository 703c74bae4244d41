/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a reader of a protocol is given, a window, and what it says about it: events. */
#ifndef CTXPROP_READING_H
#define CTXPROP_READING_H

#include <linux/types.h>

#define PROTOCOL_INLINE static inline __attribute__((always_inline))

/* Bytes of a window; a power of two. */
#define PROTOCOL_WINDOW 1024
/* Words that one step looks at: a longer line takes several steps. */
#define PROTOCOL_SCAN_WORDS 16
/* The buffer of a window has as many bytes more, so that no step has to ask where it ends. */
#define PROTOCOL_BUFFER (PROTOCOL_WINDOW + 8 * PROTOCOL_SCAN_WORDS)
/* What is looked at: a piece of the stream, with slack for word loads. */
struct protocol_window {
	__u8 byte[PROTOCOL_BUFFER];
};

/* What a direction of a connection carries. */
enum protocol_kind { PROTOCOL_REQUEST, PROTOCOL_RESPONSE };

/* http1/framing.h says of each where it stands. */
enum protocol_event {
	PROTOCOL_NONE,
	PROTOCOL_LINE,  /* the first place of a head where a field may be inserted */
	PROTOCOL_BLANK, /* the last one: all fields were seen */
	PROTOCOL_HEAD,  /* the head is complete */
	PROTOCOL_END,   /* the message is */
	PROTOCOL_STOP,  /* nothing from here on is read */
	PROTOCOL_VALUE, /* a piece of the value of a field that the caller wants to see */
};

/* How far a step came, and what it met. */
struct protocol_step {
	__u32 next;  /* the first byte of the window that is not consumed */
	__u16 at;    /* place of the event; of PROTOCOL_VALUE: the first byte */
	__u16 event; /* enum protocol_event */
};

/* No place in the window. */
#define PROTOCOL_NOWHERE 0xffffffff

#endif
