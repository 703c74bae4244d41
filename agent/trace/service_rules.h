/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of users for the names of services. Each line is a rule; "#" begins a comment:
 *
 *   match exe=*nginx cgroup=*shop* set service.name=front service.namespace=shop
 *
 * A rule holds for a process if each pattern of glob(7) fits: exe (the program's file), comm (its
 * name), args (the command line, blanks between its words), cgroup (its path), container (id), pod
 * (UID), env.NAME (the value of a variable). "match" alone fits all. Values have %20 for blanks, as
 * in OTEL_RESOURCE_ATTRIBUTES. Of all rules that hold, the first one that says an attribute counts;
 * what they say outranks what the process says of itself.
 */
#ifndef CTXPROP_SERVICE_RULES_H
#define CTXPROP_SERVICE_RULES_H

#include <stddef.h>

#include "trace/attributes.h"

struct service_rules;

/* What rules match; all texts end with NUL. */
struct service_facts {
	const char *exe, *comm, *args, *cgroup, *container, *pod;
	const char *environment; /* one text after the other */
	size_t environment_size;
};

/*
 * Read rules. On error `ret_why` says "NAME:LINE: what was wrong", with the word if the file looks
 * like one of rules at all. 0 and rules for the caller to free, -EINVAL or -ENOMEM.
 */
int service_rules_read(const char *text, size_t size, const char *name,
		       struct service_rules **ret_rules, char *ret_why, size_t why_size);
void service_rules_free(struct service_rules *rules);

/* Add the attributes that the rules set for a process. `rules` NULL: none. */
void service_rules_apply(const struct service_rules *rules, const struct service_facts *facts,
			 char attributes[ATTRIBUTES_MAX]);

#endif
