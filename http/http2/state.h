/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the automaton for HTTP/2 remembers between two bytes, and the words its users know. */
#ifndef CTXPROP_HTTP2_STATE_H
#define CTXPROP_HTTP2_STATE_H

#include <linux/types.h>
#include "../reading.h"

#define HTTP2_INLINE PROTOCOL_INLINE

/* A frame can be as long as that without the receiver's consent (RFC 9113, 4.2). */
#define HTTP2_FRAME_MAX 16384
/* What stands before the payload of a frame. */
#define HTTP2_FRAME_HEADER 9

enum http2_frame_type {
	HTTP2_DATA,
	HTTP2_HEADERS,
	HTTP2_PRIORITY,
	HTTP2_RST_STREAM,
	HTTP2_SETTINGS,
	HTTP2_PUSH_PROMISE,
	HTTP2_PING,
	HTTP2_GOAWAY,
	HTTP2_WINDOW_UPDATE,
	HTTP2_CONTINUATION,
};

/* Flags of frames; which have a meaning depends on the type. */
enum http2_frame_flags {
	HTTP2_END_STREAM = 0x1, /* DATA, HEADERS */
	HTTP2_ACK = 0x1,        /* SETTINGS, PING */
	HTTP2_END_HEADERS = 0x4,
	HTTP2_PADDED = 0x8,
	HTTP2_HAS_PRIORITY = 0x20,
};

/* About the header block at hand, until the next one begins. */
enum http2_block_flags {
	HTTP2_TRACEPARENT = 1 << 0, /* it has a traceparent */
	HTTP2_TRACESTATE = 1 << 1,  /* it has a tracestate */
	HTTP2_TWO_PARENTS = 1 << 2, /* it has a second traceparent */
	HTTP2_UNSURE = 1 << 3,      /* it has a field whose name is not known */
	HTTP2_TRAILERS = 1 << 4,    /* it begins no request */
	HTTP2_CONTINUED = 1 << 5,   /* it goes on in frames of its own */
	HTTP2_STARTED = 1 << 6,     /* its first field was seen */
	HTTP2_ENDS_STREAM = 1 << 7, /* nothing follows it on its stream */
};

/* Why the stream is not read any further. */
enum http2_stop {
	HTTP2_STOP_NONE,
	HTTP2_STOP_NOT_HTTP2, /* no preface, or no SETTINGS behind it */
	HTTP2_STOP_FRAME,     /* a frame that cannot be where it is, or as long as it is */
	HTTP2_STOP_BLOCK,     /* a header block that cannot be decoded (RFC 7541) */
	HTTP2_STOP_UNREAD,    /* bytes that its user could not get */
};

/* Which byte comes next. */
enum http2_state {
	HTTP2_AT_PREFACE,     /* of the client's 24 bytes */
	HTTP2_AT_HEADER,      /* one of the first eight of a frame's header */
	HTTP2_AT_HEADER_LAST, /* the ninth */
	HTTP2_AT_PAD,         /* how long the padding is */
	HTTP2_AT_PRIORITY,    /* five bytes before a header block */
	HTTP2_AT_BLOCK,       /* a header block: http2.field says where in it */
	HTTP2_AT_BLOCK_END,   /* none: the block is complete */
	HTTP2_AT_HEAD_END,    /* none: and its user was told where it ends */
	HTTP2_AT_SETTING,
	HTTP2_AT_PAYLOAD, /* of which nothing is read */
	HTTP2_AT_STOP,
};

/* Where in a header block. */
enum http2_field {
	HTTP2_AT_FIELD, /* the first byte of a representation (RFC 7541, 6) */
	HTTP2_AT_INDEX, /* more of its index */
	HTTP2_AT_NAME_LENGTH,
	HTTP2_AT_NAME_LENGTH_MORE,
	HTTP2_AT_NAME,      /* of a field that may matter */
	HTTP2_AT_NAME_REST, /* of one that does not */
	HTTP2_AT_VALUE_LENGTH,
	HTTP2_AT_VALUE_LENGTH_MORE,
	HTTP2_AT_VALUE,
};

/* What a representation is. */
enum http2_form {
	HTTP2_INDEXED,     /* a whole field of the table */
	HTTP2_INCREMENTAL, /* a literal that is put into the table */
	HTTP2_LITERAL,     /* one that is not */
	HTTP2_TABLE_SIZE,  /* no field: the table may be so large */
};

/* Names that are looked for. The number is part of struct http2. */
enum http2_name {
	HTTP2_NAME_OTHER,
	HTTP2_NAME_PARENT,         /* traceparent */
	HTTP2_NAME_PARENT_HUFFMAN, /* the same, coded (RFC 7541, 5.2) */
	HTTP2_NAME_STATE,          /* tracestate */
	HTTP2_NAME_STATE_HUFFMAN,
};

/* The static table (RFC 7541, appendix A). */
#define HTTP2_STATIC_PSEUDO 14 /* as many of its first entries are pseudo-header fields */
#define HTTP2_STATIC_MAX    61
/* Entries of the dynamic table whose names are known: a table of 4,096 bytes has no more. */
#define HTTP2_ENTRIES 128

/*
 * Which of the youngest entries of the dynamic table have a name that is looked for: bit n of the
 * first word is the entry with index HTTP2_STATIC_MAX + 1 + n, the second word goes on with it.
 * Whether an entry was evicted since need not be known: nobody can refer to it any more.
 */
struct http2_entries {
	__u64 young, old;
};

/* One direction of a connection. All zero is a fresh automaton for requests. */
struct http2 {
	struct http2_entries parents; /* named traceparent */
	struct http2_entries states;  /* named tracestate */
	__u64 word;     /* bytes that are collected: the first is the lowest; of a value: how long a
			   piece of it is */
	__u32 left;     /* bytes of the frame's payload still to come, padding left out */
	__u32 stream;   /* of the frame at hand */
	__u32 last;     /* the highest stream that was begun */
	__u32 number;   /* index or length that is being read; then what is left of a string */
	__u32 block;    /* bytes of the header block so far */
	__u32 list_max; /* the sender takes so many bytes of fields; 0: it has not said */
	__u16 flags;    /* enum http2_block_flags */
	__u8 kind;      /* enum protocol_kind */
	__u8 state;     /* enum http2_state */
	__u8 field;     /* enum http2_field */
	__u8 form;      /* enum http2_form */
	__u8 name;      /* enum http2_name */
	__u8 stop;      /* enum http2_stop */
	__u8 type;      /* enum http2_frame_type */
	__u8 frame_flags; /* enum http2_frame_flags */
	__u8 pos;         /* bytes in `word` */
	__u8 done;        /* bytes of a name, or pieces of a value (2: or more) */
	__u8 shift;       /* of the next seven bits of `number` */
	__u8 entries;     /* how many are in the tables, HTTP2_ENTRIES at most */
	__u8 pad;         /* bytes of padding behind the block */
	__u8 coded;       /* the string at hand is coded (RFC 7541, 5.2) */
	__u8 greeted;     /* the SETTINGS behind the preface have been seen */
	__u8 open;        /* a header block goes on in the next frame */
	__u8 caller;      /* whatever the caller wants to remember until the next block begins */
};

/* No further than this byte: the automaton stays stopped. */
HTTP2_INLINE enum protocol_event http2_refuse(struct http2 *h, enum http2_stop why)
{
	h->state = HTTP2_AT_STOP;
	h->stop = why;
	return PROTOCOL_STOP;
}

/* Begin to collect bytes in `word`. */
HTTP2_INLINE void http2_enter(struct http2 *h, enum http2_state state)
{
	h->state = state;
	h->word = 0;
	h->pos = 0;
}

#endif
