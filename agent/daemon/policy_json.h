/* SPDX-License-Identifier: Apache-2.0 */
/* The rules in force as JSON, for the page (docs/api.md). */
#ifndef CTXPROP_DAEMON_POLICY_JSON_H
#define CTXPROP_DAEMON_POLICY_JSON_H

#include <jansson.h>

#include "daemon/policies.h"

/*
 * For any thread: an array of all rules in their order, the built-in ones last, each with the
 * number of requests that it has decided; a new reference. NULL: they cannot be read.
 */
json_t *policy_json(struct policies *policies);

#endif
