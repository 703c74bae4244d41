/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Where the sampler finds the ids and labels that programs keep for their threads. User space looks
 * for them (agent/profile/take/thread_data.h) and stores the places by process. x86-64.
 */
#ifndef CTXPROP_PROFILE_THREADS_H
#define CTXPROP_PROFILE_THREADS_H

#include <linux/types.h>

/* Sources of ids and labels. Ids are taken from the first one, in this order, that has any. */
enum profile_source {
	PROFILE_SOURCE_NONE,
	PROFILE_SOURCE_OTEL,       /* thread context of OTEP 4947 */
	PROFILE_SOURCE_ELASTIC,    /* of Elastic APM's agents; ids only */
	PROFILE_SOURCE_GO,         /* labels of runtime/pprof */
	PROFILE_SOURCE_CUSTOM,     /* native custom labels */
	PROFILE_SOURCE_REGISTERED, /* thread-local variables that were registered */
	PROFILE_SOURCE_ENGINE,     /* the daemon's engine; ids only */
	PROFILE_SOURCE_TRACES,     /* map traces_ctx_v1, filled by others; ids only */
	PROFILE_SOURCES,
};

/* The sources that are kept by programs themselves: 1 << enum profile_source each. */
#define PROFILE_SOURCES_OWN                                                                        \
	(1U << PROFILE_SOURCE_OTEL | 1U << PROFILE_SOURCE_ELASTIC | 1U << PROFILE_SOURCE_GO |      \
	 1U << PROFILE_SOURCE_CUSTOM | 1U << PROFILE_SOURCE_REGISTERED)

/* A label as it was read; those behind the first PROFILE_LABELS_TAKEN are left out. */
#define PROFILE_LABELS_TAKEN 20
#define PROFILE_LABELS_MAX   10 /* of a sample, when those of all sources are merged */
#define PROFILE_LABEL_KEY    16 /* bytes, with NUL */
#define PROFILE_LABEL_VALUE  48

struct profile_label {
	__u8 source;     /* enum profile_source */
	__u8 cut;        /* key or value are longer than there is room for */
	__u8 value_size; /* of what was read */
	__u8 padding;
	__u32 number; /* PROFILE_SOURCE_OTEL: of the key; _REGISTERED: of the registration */
	char key[PROFILE_LABEL_KEY];
	char value[PROFILE_LABEL_VALUE];
};
#define PROFILE_LABEL_WORDS (sizeof(struct profile_label) / sizeof(__u64))
_Static_assert(sizeof(struct profile_label) == 72, "whole words, without padding");

/* How the address of a thread-local variable is found. */
enum profile_tls_model {
	PROFILE_TLS_NONE,
	PROFILE_TLS_STATIC, /* thread pointer + offset */
	PROFILE_TLS_GLIBC,  /* in the block of its module, from an array of blocks of 16 bytes */
	PROFILE_TLS_MUSL,   /* the same, of 8 bytes */
};

/*
 * After dlclose() glibc gives the module's number to another module, and increments a generation
 * counter. A thread adopts the generation later. So a block is only read if the module is still the
 * one that was seen, and the thread has adopted its generation.
 */
struct profile_tls {
	__s64 offset; /* from the thread pointer, or in the block */
	__u32 module;
	__u8 model; /* enum profile_tls_model */
	__u8 padding[3];
	__u64 generation;    /* the count when the module was loaded */
	__u64 generation_at; /* where that stands in the process; 0: it is not known */
};

/* The type of a registered variable. */
enum profile_slot_type {
	PROFILE_SLOT_NUMBER,  /* unsigned, of `size` bytes; 0: no label */
	PROFILE_SLOT_POINTER, /* to a text that ends with NUL; NULL: no label */
	PROFILE_SLOT_TEXT,    /* these bytes themselves, up to a NUL */
};

#define PROFILE_SLOTS_MAX 8 /* registered variables of one process */

struct profile_slot {
	struct profile_tls tls;
	__u32 number; /* of the registration */
	__u8 type;    /* enum profile_slot_type */
	__u8 size;    /* bytes of the variable; PROFILE_LABEL_VALUE: so many, or more */
	__u8 padding[2];
};

/* Where Go keeps the labels of a goroutine. */
enum profile_go_form {
	PROFILE_GO_NONE,
	PROFILE_GO_MAP,   /* before 1.24 */
	PROFILE_GO_SLICE, /* since then */
};

struct profile_go {
	__s32 g;      /* of the goroutine `g`, from the thread pointer */
	__u16 curg;   /* in struct m */
	__u16 labels; /* in struct g */
	__u32 form;   /* enum profile_go_form */
};

/* Map `profile_threads`, by process id: where its threads keep ids and labels. */
struct profile_thread_data {
	__u64 life; /* for which it holds, as in struct profile_sample */
	struct profile_tls otel, elastic, custom;
	struct profile_go go;
	__u32 slot_count;
	struct profile_slot slot[PROFILE_SLOTS_MAX];
};
_Static_assert(sizeof(struct profile_thread_data) ==
		   8 + 3 * sizeof(struct profile_tls) + 16 +
		       PROFILE_SLOTS_MAX * sizeof(struct profile_slot),
	       "no padding that nobody has set");

#endif
