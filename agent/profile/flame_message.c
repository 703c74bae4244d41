// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "profile/flame_message.h"

static int add_sample(struct flame *root, struct message_path *path, __u64 weight)
{
	struct flame *node = root;

	root->total += weight;
	for (size_t i = 0; node && i < path->count; i++)
		node = flame_enter(node, path->step[i].name, path->step[i].kind, weight);
	if (!node)
		return -1;
	node->self += weight;
	return 0;
}

struct flame *flame_of_message(const struct message_weight *weight, bool with_endpoint)
{
	const struct message *message = weight->message;
	struct flame *root = flame_root();
	struct message_path path = {};
	int err = root ? 0 : -1;

	for (size_t i = 0; !err && i < message->profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = message->profile->sample[i];
		const __u64 value = message_weigh(weight, sample);

		if (!value)
			continue;
		err = message_path(&path, message, sample, with_endpoint);
		if (!err)
			err = add_sample(root, &path, value);
	}
	message_path_free(&path);
	if (!err)
		return root;
	flame_free(root);
	return NULL;
}

enum flame_unit flame_unit_of(const struct message_weight *weight)
{
	return !strcmp(weight->unit, "nanoseconds") ? FLAME_NS : FLAME_SAMPLES;
}
