// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>

#include "base/list.h"
#include "who/keys.h"

static int add(struct keys *keys, const struct worker_key *key)
{
	struct worker_key *grown =
	    list_make_room(keys->key, keys->count, &keys->room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	keys->key = grown;
	keys->key[keys->count++] = *key;
	return 0;
}

int keys_add(struct keys *keys, int map_fd)
{
	struct worker_key key, next, *before = NULL;
	int err = 0;

	while (!err && !bpf_map_get_next_key(map_fd, before, &next)) {
		key = next;
		before = &key;
		if (!key.tid && key.context)
			err = add(keys, &key);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct worker_key *left = a, *right = b;

	if (left->tgid != right->tgid)
		return left->tgid < right->tgid ? -1 : 1;
	return (left->context > right->context) - (left->context < right->context);
}

void keys_sort(struct keys *keys)
{
	size_t kept = 0;

	if (!keys->count)
		return;
	qsort(keys->key, keys->count, sizeof(*keys->key), compare);
	for (size_t i = 1; i < keys->count; i++)
		if (compare(&keys->key[i], &keys->key[kept]))
			keys->key[++kept] = keys->key[i];
	keys->count = kept + 1;
}

const struct worker_key *keys_of(const struct keys *keys, __u32 tgid, size_t *ret_count)
{
	size_t first = 0, end;

	while (first < keys->count && keys->key[first].tgid < tgid)
		first++;
	for (end = first; end < keys->count && keys->key[end].tgid == tgid; end++)
		;
	*ret_count = end - first;
	return keys->key + first;
}

void keys_free(struct keys *keys)
{
	free(keys->key);
	*keys = (struct keys){};
}
