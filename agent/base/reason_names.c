// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "base/reason_names.h"

#define REQUEST_ROW(id, name, text) [REASON_##id] = {name, text, REASON_GROUP_REQUESTS},
#define FLOW_ROW(id, name, text)    [REASON_##id] = {name, text, REASON_GROUP_FLOWS},
#define PACKET_ROW(id, name, text)  [REASON_##id] = {name, text, REASON_GROUP_PACKETS},
#define SERVED_ROW(id, name, text)  [REASON_##id] = {name, text, REASON_GROUP_SERVED},
#define RECORD_ROW(id, name, text)  [REASON_##id] = {name, text, REASON_GROUP_RECORDS},
/* A name stands for itself in every output: these have their group in it. */
#define EVIDENCE_ROW(id, name, text)                                                               \
	[REASON_EVIDENCE_##id] = {"by-" name, text, REASON_GROUP_EVIDENCE},
#define VETO_ROW(id, name, text) [REASON_VETO_##id] = {"veto-" name, text, REASON_GROUP_VETO},

/* clang-format off */
static const struct reason_row rows[] = {
	CTXPROP_REQUEST_REASONS(REQUEST_ROW)
	CTXPROP_FLOW_REASONS(FLOW_ROW)
	CTXPROP_PACKET_REASONS(PACKET_ROW)
	CTXPROP_SERVED_REASONS(SERVED_ROW)
	CTXPROP_RECORD_REASONS(RECORD_ROW)
	CTXPROP_EVIDENCE(EVIDENCE_ROW)
	CTXPROP_VETO(VETO_ROW)
};
/* clang-format on */
_Static_assert(sizeof(rows) / sizeof(rows[0]) == REASON_COUNT, "every reason has a row");

static const char *const groups[] = {
    [REASON_GROUP_REQUESTS] = "requests", [REASON_GROUP_FLOWS] = "flows",
    [REASON_GROUP_PACKETS] = "packets",   [REASON_GROUP_SERVED] = "served",
    [REASON_GROUP_RECORDS] = "records",   [REASON_GROUP_EVIDENCE] = "evidence",
    [REASON_GROUP_VETO] = "veto",
};
_Static_assert(sizeof(groups) / sizeof(groups[0]) == REASON_GROUPS, "every group has a name");

const struct reason_row *reason_row(unsigned int reason)
{
	return reason < REASON_COUNT ? &rows[reason] : NULL;
}

const char *reason_group_name(enum reason_group group)
{
	return groups[group];
}
