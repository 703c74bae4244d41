// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/interrupt.h"
#include "base/resident.h"
#include "load/node.h"
#include "runtime/preload.h"

static void say_nothing(const char *runtime, int err)
{
	(void)runtime;
	(void)err;
}

int preload_first(void)
{
	atomic_bool never = false;
	struct runtime_probes probes;
	struct uprobe_pins pins;
	int err = uprobe_pins_open(&pins);

	if (err)
		return err;
	runtime_probes_open(&pins, say_nothing, &probes);
	err = runtime_probes_preload(&probes, RUNTIME_PART_FIRST, &never);
	runtime_probes_close(&probes);
	uprobe_pins_close(&pins);
	return err;
}

static int load_runtimes(struct preload *preload)
{
	return runtime_probes_preload(preload->probes, RUNTIME_PART_ALL, &preload->stop);
}

/* Those of runtimes first: a process that needs them would delay all others. */
static void *load(void *data)
{
	const struct runtimes_news done = {.preloaded = true};
	struct runtimes_news unix_sockets = {.unix_sockets = true};
	struct preload *preload = data;
	int err = preload->runtimes ? load_runtimes(preload) : -ECANCELED;

	unix_sockets.err = atomic_load(&preload->stop) ? 0 : node_make_ready();
	resident_shrink(); /* free what only loading needed */
	if (atomic_load(&preload->stop))
		return NULL;
	if (unix_sockets.err)
		preload->tell(&unix_sockets);
	if (!err)
		preload->tell(&done);
	return NULL;
}

void preload_begin(struct preload *preload, struct runtime_probes *probes, bool runtimes,
		   runtimes_tell tell)
{
	if (preload->begun)
		return;
	preload->probes = probes;
	preload->runtimes = runtimes;
	preload->tell = tell;
	preload->begun = !pthread_create(&preload->thread, NULL, load, preload);
}

void preload_end(struct preload *preload)
{
	if (!preload->begun)
		return;
	atomic_store(&preload->stop, true);
	interrupt_join(preload->thread);
	preload->begun = false;
}
