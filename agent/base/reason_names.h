/* SPDX-License-Identifier: Apache-2.0 */
/* Names, texts and groups of the reasons in bpf/reasons.h. */
#ifndef CTXPROP_REASON_NAMES_H
#define CTXPROP_REASON_NAMES_H

#include "reasons.h"

enum reason_group {
	REASON_GROUP_REQUESTS,
	REASON_GROUP_FLOWS,
	REASON_GROUP_PACKETS,
	REASON_GROUP_SERVED,
	REASON_GROUP_RECORDS,
	REASON_GROUP_EVIDENCE,
	REASON_GROUP_VETO,
	REASON_GROUPS
};

struct reason_row {
	const char *name;
	const char *text;
	enum reason_group group;
};

/* The row of a reason; NULL when `reason` is none. */
const struct reason_row *reason_row(unsigned int reason);

/* The name of a group, as `ctxprop stats` shows it. */
const char *reason_group_name(enum reason_group group);

#endif
