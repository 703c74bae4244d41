/* SPDX-License-Identifier: Apache-2.0 */
/* What rules are when they were read: only for tags.c and tags_apply.c. */
#ifndef CTXPROP_PROFILE_TAGS_RULE_H
#define CTXPROP_PROFILE_TAGS_RULE_H

#include <regex.h>
#include <stdbool.h>

#include "profile/tags.h"

enum tag_verb { TAG_MATCH, TAG_DROP, TAG_FOLD };

struct tag_rule {
	enum tag_verb verb;
	bool of_file; /* the expression is for files, not for functions */
	regex_t expression;
	char *name; /* NULL: the verb takes none */
};

struct tags {
	size_t count;
	struct tag_rule rule[TAGS_MAX];
};

#endif
