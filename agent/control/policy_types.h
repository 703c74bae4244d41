/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy as people think of it: an ordered list of rules, the first that fits decides, and
 * named sets of networks that rules refer to. Knows nothing of text, netlink or the kernel.
 */
#ifndef CTXPROP_POLICY_TYPES_H
#define CTXPROP_POLICY_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "policy.h"

#define POLICY_BUILTIN_RULES  3
#define POLICY_USER_RULES_MAX 1000
#define POLICY_PRIO_MAX       32000 /* of a user's rule; built-in ones follow */
#define POLICY_SETS_MAX       64
#define POLICY_PREFIXES_MAX   1024 /* of one set */
#define POLICY_PORTS_MAX      8    /* ranges of ports in one rule */

/* Sizes with the terminating zero. */
#define POLICY_NAME_SIZE   32  /* of a set */
#define POLICY_DEVICE_SIZE 16  /* IFNAMSIZ */
#define POLICY_CGROUP_SIZE 256 /* path below the cgroup file system, without slash at its end */
#define POLICY_HOST_SIZE   128 /* "api.example.com", "*.example.com" */

#define POLICY_SAMPLE_ALL 1000000 /* in millionths */

/* A network. IPv4 stands as ::ffff:a.b.c.d with 96 bits more. Bits behind the prefix are 0. */
struct policy_prefix {
	__u8 address[16] __attribute__((aligned(8)));
	__u8 bits;
};

/* Ports from the first to the last. */
struct policy_ports {
	__u16 first, last;
};

enum policy_end_kind { POLICY_ANYONE, POLICY_PREFIX, POLICY_SET };

/* One end of a connection: `from` or `to` of a rule. */
struct policy_end {
	enum policy_end_kind kind;
	bool negated;
	struct policy_prefix prefix;
	char set[POLICY_NAME_SIZE];
};

struct policy_rule {
	__u32 prio;
	enum policy_dir dir;
	enum policy_action action;
	struct policy_end from, to;
	struct policy_ports ports[POLICY_PORTS_MAX];
	unsigned int port_count;         /* of these; 0: any port */
	char device[POLICY_DEVICE_SIZE]; /* empty: any; so are the next two */
	char cgroup[POLICY_CGROUP_SIZE];
	char host[POLICY_HOST_SIZE]; /* in lower case */
	__u32 sample;                /* millionths of the new traces that are sampled */
	bool no_root, no_tracestate;
};

struct policy_set {
	char name[POLICY_NAME_SIZE];
	struct policy_prefix *prefixes; /* sorted, each once */
	size_t count;
};

struct policy {
	struct policy_rule *rules; /* sorted by prio, each prio once */
	size_t count;
	struct policy_set *sets; /* sorted by name */
	size_t set_count;
};

/* What was wrong: text for a person. */
struct policy_error {
	char text[256];
	size_t word; /* of text that was read: which word it is about */
};

/* Write an error's text and return `err`. */
__attribute__((format(printf, 3, 4))) int policy_fail(struct policy_error *error, int err,
						      const char *format, ...);

#endif
