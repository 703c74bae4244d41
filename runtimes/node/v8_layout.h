/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* V8, the engine of Node: what differs between its versions, and what is noted of objects. */
#ifndef CTXPROP_RUNTIMES_NODE_V8_LAYOUT_H
#define CTXPROP_RUNTIMES_NODE_V8_LAYOUT_H

#include <linux/types.h>

/* Numbers that V8 publishes for debuggers (symbols `v8dbg_*`). */
struct runtime_v8 {
	/* Types of objects. */
	__u16 object; /* 0: nothing is known, objects are not looked at */
	__u16 array;
	__u16 function;
	__u16 bound;
	__u16 promise;
	__u16 reaction;                      /* what is to be done when a promise is settled */
	__u16 capability;                    /* a promise and who settles it */
	__u16 async;                         /* an async function that was called, and waits */
	__u16 bytecode;                      /* of a function */
	__u16 contexts_first, contexts_last; /* variables of functions that others use */
	/* Offsets in bytes. */
	__u8 context;    /* of a function */
	__u8 shared;     /* of a function: what all that were made of one text share */
	__u8 parameters; /* of what they share: how many there are, with `this` */
	__u8 locals;     /* of what describes a context: names, then what is known of each */
	__u8 code;       /* of bytecode: where it begins; 0: it is not looked at */
	__u8 pool;       /* of bytecode: the names that it uses */
	/* What calls have taught of functions without parameters (runtimes/node/search.bpf.h). */
	__u8 bare_told;   /* so many calls were those of requests to which such a one responds */
	__u8 bare_shared; /* 1: several wait for one call by such functions */
	__u8 reserved[2];
};

/* Properties that are looked for. */
enum v8_property {
	V8_OWNER,    /* of a handle: what it is for */
	V8_HANDLE,   /* of a socket */
	V8_SOCKET,   /* of a request or response, at either end */
	V8_MESSAGE,  /* of a socket: who writes */
	V8_EVENTS,   /* of who tells others: to whom */
	V8_LISTENER, /* of one that is told only once */
	V8_RESPONSE, /* of those who are told: who is told of an answer */
	V8_CURRENT,  /* of who makes calls for others: the last one */
	V8_PARSER,   /* of undici: of a socket; and what leads from there to who is told */
	V8_CLIENT,
	V8_QUEUE,
	V8_PENDING,
	V8_HANDLER,
	V8_PROCESS, /* of what fetch() does: what is called with the response */
	V8_RESOLVE, /* of an object for a promise: who settles that */
	V8_REQ,     /* of a response, of what frameworks make of both */
	V8_RES,
	V8_RAW,
	V8_PROPERTIES_KNOWN
};
#define V8_PROPERTIES_MAX 32 /* a power of two */

/* Map `v8_shapes`, by the address of V8's map: where its objects have them. */
struct v8_shape {
	__u64 descriptors;                /* of that map, when it was looked at */
	__u16 place[V8_PROPERTIES_KNOWN]; /* byte of the object, or of its other properties; 0: none
					   */
	__u16 reserved[3];
};

#endif
