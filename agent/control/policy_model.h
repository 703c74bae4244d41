/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy as people think of it: an ordered list of rules, the first that fits decides, and
 * named sets of networks that rules refer to. Knows nothing of text, netlink or the kernel.
 */
#ifndef CTXPROP_POLICY_MODEL_H
#define CTXPROP_POLICY_MODEL_H

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

/*
 * An empty policy is all zero. What fails below may have changed it in part: those who want all or
 * nothing work on a copy.
 *
 * Frees what a policy holds and makes it empty.
 */
void policy_clear(struct policy *policy);

/* A deep copy. 0 or -ENOMEM, then `ret` is empty. */
int policy_copy(const struct policy *policy, struct policy *ret);

/* The rules that stand behind a user's; `index` below POLICY_BUILTIN_RULES. */
const struct policy_rule *policy_builtin(size_t index);

/*
 * Which share of the traces that the built-in rules begin is sampled, in millionths. To be said
 * before any policy is in force; the default is POLICY_SAMPLE_ALL.
 */
void policy_builtin_set_sample(__u32 sample);

/* Do the built-in rules say what the packet programs do without any policy? */
bool policy_builtin_is_usual(void);

/* A rule that asks for nothing, and injects. */
void policy_rule_init(struct policy_rule *rule);

/* Do the parts of a rule go together? 0 or -EINVAL. */
int policy_rule_check(const struct policy_rule *rule, struct policy_error *error);

/* The user's rule with this priority, or NULL. */
const struct policy_rule *policy_find(const struct policy *policy, __u32 prio);

/* A priority behind all rules that there are; above POLICY_PRIO_MAX: there is none left. */
__u32 policy_next_prio(const struct policy *policy);

/* How an addition meets what is there already (as NLM_F_* in rtnetlink). */
enum policy_put { POLICY_PUT_NEW, POLICY_PUT_EITHER, POLICY_PUT_EXISTING };

/*
 * Add a rule or replace the one of its priority. 0; -EEXIST, -ENOENT by `how`; -EINVAL, -E2BIG,
 * -ENOMEM, or -ESRCH for a set that is not there.
 */
int policy_put_rule(struct policy *policy, const struct policy_rule *rule, enum policy_put how,
		    struct policy_error *error);

/* Remove a rule. 0 or -ENOENT. */
int policy_delete_rule(struct policy *policy, __u32 prio, struct policy_error *error);

/* Remove all rules; sets stay. */
void policy_flush_rules(struct policy *policy);

/* The set of this name, or NULL. */
const struct policy_set *policy_find_set(const struct policy *policy, const char *name);

/* Is this the name of a set? A small letter, then small letters, digits, "-" and "_". */
bool policy_is_set_name(const char *name);

/* Make a set unless it is there, and add networks to it. 0 or -EEXIST (`exclusive`), -E2BIG... */
int policy_put_set(struct policy *policy, const struct policy_set *set, bool exclusive,
		   struct policy_error *error);

/* Take networks out of a set. 0, or -ENOENT if it is not there or one of them is not in it. */
int policy_delete_from_set(struct policy *policy, const struct policy_set *set,
			   struct policy_error *error);

/* Empty a set and remove it; one that a rule names stays, empty. 0 or -ENOENT. */
int policy_flush_set(struct policy *policy, const char *name, struct policy_error *error);

#endif
