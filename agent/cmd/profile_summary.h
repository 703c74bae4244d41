/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that were taken, summed up by endpoint. */
#ifndef CTXPROP_CMD_PROFILE_SUMMARY_H
#define CTXPROP_CMD_PROFILE_SUMMARY_H

#include "cmd/profile_output.h"

/* All endpoints, and what was lost, as JSON. Returns an exit code. */
int profile_summary_json(const struct profile_result *result);

/* The endpoints with most samples, in a table. */
void profile_summary(const struct profile_result *result);

#endif
