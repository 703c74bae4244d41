// SPDX-License-Identifier: Apache-2.0
#include "profile/message_requests.h"
#include "profile/pprof_types.h"
#include "profile/requests.h"

bool message_is_of_request(const struct message *message, const Sample *sample)
{
	const char *endpoint = message_label(message, sample, "endpoint");

	return *endpoint && !endpoint_is_none(endpoint);
}

size_t message_of_requests(const struct message *message)
{
	const Profile *profile = message->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		count += message_is_of_request(message, profile->sample[i]);
	return count;
}

bool message_is_mixed(const struct message *message)
{
	const size_t count = message_of_requests(message);

	return count && count < message->profile->n_sample;
}

static bool takes(const struct message *message, const Sample *sample, const void *data)
{
	(void)data;
	return message_is_of_request(message, sample);
}

int message_requests(struct message *message, struct message *ret)
{
	if (message_is_mixed(message))
		return message_part(message, takes, NULL, ret);
	*ret = (struct message){.profile = message->profile};
	return 0;
}
