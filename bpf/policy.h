/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Policy match: which rule of an ordered list is the first that fits a request?
 *
 * The list is compiled (agent/control/compile.c) into an image. In each dimension (source,
 * destination, port, ...) the numbers are cut into classes whose members meet the same rules, and
 * a class points to a vector with a bit for each of these rules. To match is to find one vector
 * per dimension by binary search, to AND them, and to take the first bit: what that costs does
 * not depend on the number of rules.
 */
#ifndef CTXPROP_POLICY_H
#define CTXPROP_POLICY_H

#include <linux/types.h>

#define POLICY_RULES_MAX   1024 /* with the built-in ones */
#define POLICY_WORDS       (POLICY_RULES_MAX / 64)
#define POLICY_BOUNDS_MAX  8192 /* classes of all dimensions together; a power of two */
#define POLICY_BOUND_STEPS 13   /* of the binary search: 2^13 classes */
#define POLICY_VECTORS_MAX 4096 /* different ones; a power of two */
#define POLICY_SPANS       8    /* at least POLICY_DIMENSIONS; a power of two */
#define POLICY_NESTED_MAX  8    /* enclosing cgroups, or enclosing domains of a host */

enum policy_dir { POLICY_OUT, POLICY_IN, POLICY_FORWARD, POLICY_DIRS };

enum policy_action {
	POLICY_INJECT,  /* out: a traceparent goes into requests that have none */
	POLICY_OBSERVE, /* out: nothing is changed, the request is followed */
	POLICY_RESTART, /* out: also requests that have a traceparent get one of a new trace */
	POLICY_STRIP,   /* out: a traceparent is removed */
	POLICY_SKIP,    /* out: nothing is changed, nothing is followed */
	POLICY_ACCEPT,  /* in: the context of the caller is believed */
	POLICY_IGNORE,  /* in: it is not, the trace begins here */
	POLICY_ACTIONS,
};

/* An action of no rule: there are rules for hosts, and the host of a request cannot be told. */
#define POLICY_UNKNOWN POLICY_ACTIONS

enum policy_verdict_flags {
	POLICY_NO_ROOT = 1 << 0,       /* only requests that have a cause */
	POLICY_NO_TRACESTATE = 1 << 1, /* tracestate is not handed on */
};

/* What a rule says. */
struct policy_verdict {
	__u64
	    unsampled; /* a new trace is sampled unless its 56 random bits are below this number */
	__u32 prio;
	__u8 action;   /* enum policy_action */
	__u8 flags;    /* enum policy_verdict_flags */
	__u16 counter; /* of the requests that it decides: below POLICY_COUNTERS */
};
_Static_assert(sizeof(struct policy_verdict) == 16, "policy_verdict is shared");

/*
 * Counters of requests. The first ones, by enum policy_dir, belong to the built-in rules. The
 * others are given to rules as these are made, and there are enough for those of two policies: one
 * that begins to hold takes none that the one before may still be counting in.
 */
#define POLICY_COUNTERS (2 * POLICY_RULES_MAX)

/* What rule each counter belongs to, by a number made of all that it says; 0: to none. */
struct policy_owners {
	__u64 rule[POLICY_COUNTERS];
};

enum policy_dimension {
	POLICY_FROM,   /* address of the client; IPv4 as ::ffff:a.b.c.d */
	POLICY_TO,     /* address of the server */
	POLICY_PORT,   /* of the server */
	POLICY_DEVICE, /* policy_device() */
	POLICY_CGROUP, /* id; nested */
	POLICY_HOST,   /* policy_host_*() of the Host field; nested */
	POLICY_DIMENSIONS,
};

/* A number in one of the dimensions. */
struct policy_number {
	__u64 high, low;
};

/* A device of a network namespace, which is named as in struct flow_key. */
static inline __u64 policy_device(__u32 netns, __u32 ifindex)
{
	return (__u64)netns << 32 | ifindex;
}

struct policy_vector {
	__u64 word[POLICY_WORDS]; /* rule i: bit i % 64 of word i / 64 */
};

/* The classes of a dimension: bound[first .. first + count), ascending, the first one is 0. */
struct policy_span {
	__u32 first, count;
};

struct policy_image {
	__u32 generation; /* 1..POLICY_GENERATION_MAX; another one for each policy */
	__u32 rules;
	struct policy_span span[POLICY_SPANS];         /* by enum policy_dimension */
	__u32 dir_vector[4];                           /* by enum policy_dir */
	struct policy_number bound[POLICY_BOUNDS_MAX]; /* first number of a class */
	__u16 bound_vector[POLICY_BOUNDS_MAX];         /* and its vector */
	struct policy_vector vector[POLICY_VECTORS_MAX];
	struct policy_verdict verdict[POLICY_RULES_MAX];
};

/* The vectors whose AND decides; the host's stands apart, since it differs by request. */
struct policy_vectors {
	__u32 vector[6];
	__u32 unnamed_host;
	__u32 host;
};

/*
 * What is known of a request. Nested: the innermost first, zeros behind the last. And the working
 * area of the match: in a BPF program a query does not lie on the stack.
 */
struct policy_query {
	struct policy_number from, to, port, device;
	__u64 cgroup[POLICY_NESTED_MAX];
	__u64 host[POLICY_NESTED_MAX];
	__u32 dir;                   /* enum policy_dir */
	__u32 generation;            /* work: of the image that `found` is about */
	struct policy_number nested; /* work */
	struct policy_vectors found; /* work */
};

/*
 * How the functions are made that a verifier should walk once, and not once for every place that
 * calls them. Their pointers may be NULL then, for all it knows.
 */
#ifndef POLICY_FUNCTION
#define POLICY_FUNCTION static inline
#endif

/* No rule. */
#define POLICY_NONE 0xffffffff

/* A rule of some generation in one word, as a flow remembers it; 0: none. */
#define POLICY_GENERATION_MAX 0x1fffff

static inline __u32 policy_remember(const struct policy_image *image, __u32 rule)
{
	return image->generation << 11 | (rule & (POLICY_RULES_MAX - 1)) | POLICY_RULES_MAX;
}

/* The remembered rule, or POLICY_NONE if it is of another generation. */
static inline __u32 policy_recall(const struct policy_image *image, __u32 remembered)
{
	if (remembered >> 11 != image->generation)
		return POLICY_NONE;
	return remembered & (POLICY_RULES_MAX - 1);
}

/* An address as it stands in packets and keys, 8-byte aligned. */
static inline struct policy_number policy_address(const void *address)
{
	const __u64 *word = address;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (struct policy_number){__builtin_bswap64(word[0]), __builtin_bswap64(word[1])};
#else
	return (struct policy_number){word[0], word[1]};
#endif
}

/* Is a before or equal to b? */
static inline int policy_reaches(const struct policy_number *a, const struct policy_number *b)
{
	return a->high < b->high || (a->high == b->high && a->low <= b->low);
}

/* The vector of the class that a number belongs to. */
POLICY_FUNCTION __u32 policy_search(const struct policy_image *image, __u32 dimension,
				    const struct policy_number *number)
{
	__u32 at, left;

	if (!image || !number)
		return 0;
	dimension &= POLICY_SPANS - 1;
	at = image->span[dimension].first;
	left = image->span[dimension].count;
	for (int i = 0; i < POLICY_BOUND_STEPS; i++) {
		__u32 half = left / 2, middle = (at + half) & (POLICY_BOUNDS_MAX - 1);

		if (!half)
			break;
		if (policy_reaches(&image->bound[middle], number)) {
			at = middle;
			left -= half;
		} else {
			left = half;
		}
	}
	return image->bound_vector[at & (POLICY_BOUNDS_MAX - 1)];
}

/* The vector of what no rule names in a dimension. */
static inline __u32 policy_unnamed(const struct policy_image *image, __u32 dimension)
{
	return image->bound_vector[image->span[dimension].first & (POLICY_BOUNDS_MAX - 1)];
}

/* Does any rule name something in this dimension? */
static inline int policy_asks(const struct policy_image *image, __u32 dimension)
{
	return image->span[dimension].count > 1;
}

/* The vector of the innermost of some nested numbers that a rule names. (Inline: the stack of BPF
 * is small.) */
static inline __attribute__((always_inline)) __u32
policy_search_nested(const struct policy_image *image, __u32 dimension, const __u64 *numbers,
		     struct policy_number *work)
{
	__u32 unnamed = policy_unnamed(image, dimension);

	work->high = 0;
	for (int i = 0; i < POLICY_NESTED_MAX; i++) {
		__u32 vector;

		work->low = numbers[i];
		if (!work->low)
			break;
		vector = policy_search(image, dimension, work);
		if (vector != unnamed)
			return vector;
	}
	return unnamed;
}

static inline const __u64 *policy_words(const struct policy_image *image, __u32 vector)
{
	return image->vector[vector & (POLICY_VECTORS_MAX - 1)].word;
}

static inline __u64 policy_and(const struct policy_image *image, const struct policy_vectors *v,
			       __u32 word)
{
	__u64 both = ~0ULL;

	for (int i = 0; i < 6; i++)
		both &= policy_words(image, v->vector[i])[word & (POLICY_WORDS - 1)];
	return both;
}

static inline void policy_find_vectors(const struct policy_image *image, struct policy_query *q)
{
	struct policy_vectors *v = &q->found;

	q->generation = image->generation;
	v->vector[0] = image->dir_vector[q->dir & 3];
	v->vector[1] = policy_search(image, POLICY_FROM, &q->from);
	v->vector[2] = policy_search(image, POLICY_TO, &q->to);
	v->vector[3] = policy_search(image, POLICY_PORT, &q->port);
	v->vector[4] = policy_search(image, POLICY_DEVICE, &q->device);
	v->vector[5] = policy_search_nested(image, POLICY_CGROUP, q->cgroup, &q->nested);
	v->host = v->unnamed_host = policy_unnamed(image, POLICY_HOST);
	if (policy_asks(image, POLICY_HOST))
		v->host = policy_search_nested(image, POLICY_HOST, q->host, &q->nested);
}

/* The lowest bit of a word that is not 0. By the sequence of de Bruijn: without branches. */
static inline __u32 policy_lowest_bit(__u64 word)
{
	static const __u8 place[64] = {
	    0,  1,  2,  53, 3,  7,  54, 27, 4,  38, 41, 8,  34, 55, 48, 28, 62, 5,  39, 46, 44, 42,
	    22, 9,  24, 35, 59, 56, 49, 18, 29, 11, 63, 52, 6,  26, 37, 40, 33, 47, 61, 45, 43, 21,
	    23, 58, 17, 10, 51, 25, 36, 32, 60, 20, 57, 16, 50, 31, 19, 15, 30, 14, 13, 12,
	};

	return place[((word & -word) * 0x022fdd63cc95386dULL) >> 58];
}

/* The rule that policy_first() found holds for this request only. */
#define POLICY_PASSING 0x80000000

/* The first rule in all vectors of a query; POLICY_PASSING goes with it; POLICY_NONE: none. */
POLICY_FUNCTION __u32 policy_first(const struct policy_image *image, const struct policy_query *q)
{
	__u32 passing = 0;

	if (!image || !q)
		return POLICY_NONE;
	for (__u32 i = 0; i < POLICY_WORDS; i++) {
		__u64 fits = policy_and(image, &q->found, i);
		__u64 always = fits & policy_words(image, q->found.unnamed_host)[i];
		__u64 now = fits & policy_words(image, q->found.host)[i];

		/* A rule for some host comes before the first that asks for none. */
		if ((fits & -fits) != (always & -always))
			passing = POLICY_PASSING;
		if (now)
			return (i * 64 + policy_lowest_bit(now)) | passing;
	}
	return POLICY_NONE;
}

/*
 * The first rule that fits. `ret_lasting`: it does so for every request of the connection,
 * whatever its Host field says. POLICY_NONE: there is no such rule.
 */
static inline __u32 policy_match(const struct policy_image *image, struct policy_query *q,
				 int *ret_lasting)
{
	__u32 rule;

	policy_find_vectors(image, q);
	rule = policy_first(image, q);
	*ret_lasting = !(rule & POLICY_PASSING);
	return rule == POLICY_NONE ? rule : rule & ~POLICY_PASSING;
}

#endif
