// SPDX-License-Identifier: Apache-2.0
#include "runtime/preload.h"

static void *load(void *data)
{
	const struct runtimes_news done = {.preloaded = true};
	struct preload *preload = data;

	if (!runtime_probes_preload(preload->probes, &preload->stop))
		preload->tell(&done);
	return NULL;
}

void preload_begin(struct preload *preload, struct runtime_probes *probes, runtimes_tell tell)
{
	if (preload->begun)
		return;
	preload->probes = probes;
	preload->tell = tell;
	preload->begun = !pthread_create(&preload->thread, NULL, load, preload);
}

void preload_end(struct preload *preload)
{
	if (!preload->begun)
		return;
	atomic_store(&preload->stop, true);
	pthread_join(preload->thread, NULL);
	preload->begun = false;
}
