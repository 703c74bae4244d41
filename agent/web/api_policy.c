// SPDX-License-Identifier: Apache-2.0
#include "web/api.h"
#include "web/api_store.h"

void api_policy(const struct web_options *options, struct request *request, struct reply *reply)
{
	json_t *rules = options->policy.rules(options->policy.data);

	(void)request;
	if (rules)
		api_reply(reply, json_pack("{so}", "rules", rules));
	else
		api_refuse(reply, 503, "the rules cannot be read");
}
