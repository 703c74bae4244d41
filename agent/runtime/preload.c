// SPDX-License-Identifier: Apache-2.0
#include "runtime/preload.h"

static void *load(void *data)
{
	struct preload *preload = data;

	runtime_probes_preload(preload->probes, &preload->stop);
	return NULL;
}

void preload_begin(struct preload *preload, struct runtime_probes *probes)
{
	if (preload->begun)
		return;
	preload->probes = probes;
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
