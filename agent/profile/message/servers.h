/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of servers (processes that have read requests): how many belong to no request, and why,
 * by the engine's vetoes (bpf/engine/model.h).
 */
#ifndef CTXPROP_PROFILE_MESSAGE_SERVERS_H
#define CTXPROP_PROFILE_MESSAGE_SERVERS_H

#include <stddef.h>
#include <jansson.h>

#include "profile/sample.h"

#define SERVERS_REASONS  32 /* more than enum veto has; the last one: none that is known */
#define SERVERS_TEXT_MAX 256

/* All zero: there are none. */
struct servers {
	__u64 samples;                  /* on the CPU */
	__u64 without[SERVERS_REASONS]; /* a request, by enum veto; VETO_NONE: none was open */
};

/* "other-idle-loop", "none-open" and so on; of a number that is no reason "other". */
const char *servers_reason(size_t reason);

/* The other way round. */
size_t servers_reason_named(const char *name);

/* Why a sample of a server belongs to no request; -1: it belongs to one, or is not of a server. */
int servers_why(const struct profile_sample *sample);

/* Count a sample on the CPU, if it is a server's. */
void servers_count(struct servers *servers, const struct profile_sample *sample);

/* How many belong to no request. */
__u64 servers_without(const struct servers *servers);

/*
 * Into `buffer`, of SERVERS_TEXT_MAX: "4.1 % of the samples of servers have no request:
 * other-idle-loop 2.9 %, no-evidence 0.9 %, ended 0.3 %", with the three reasons that are told most
 * often. Returns it. There are samples.
 */
const char *servers_text(const struct servers *servers, char *buffer);

/* The same as an object, with all reasons; NULL: there are no samples. */
json_t *servers_json(const struct servers *servers);

#endif
