/* SPDX-License-Identifier: Apache-2.0 */
/* The API behind the page: what the store has, as JSON (docs/api.md). */
#ifndef CTXPROP_WEB_API_H
#define CTXPROP_WEB_API_H

#include "web/request.h"
#include "web/server.h"

/* /api/v1/traces, traces/ID, endpoints, map, policy, profile and profile.svg. */
void api_traces(const struct web_options *options, struct request *request, struct reply *reply);
void api_trace(const struct web_options *options, struct request *request, struct reply *reply);
void api_endpoints(const struct web_options *options, struct request *request, struct reply *reply);
void api_map(const struct web_options *options, struct request *request, struct reply *reply);
void api_policy(const struct web_options *options, struct request *request, struct reply *reply);
void api_profile(const struct web_options *options, struct request *request, struct reply *reply);
void api_profile_picture(const struct web_options *options, struct request *request,
			 struct reply *reply);

#endif
