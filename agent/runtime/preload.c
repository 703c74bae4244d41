// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/interrupt.h"
#include "base/jobs.h"
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

static int load_unix(void *data)
{
	(void)data;
	return node_make_ready();
}

static int load_runtimes(void *data)
{
	struct preload *preload = data;

	if (!preload->runtimes)
		return 0;
	return runtime_probes_preload(preload->probes, RUNTIME_PART_ALL, &preload->stop);
}

static void *load(void *data)
{
	struct preload *preload = data;
	struct job jobs[] = {{.run = load_runtimes, .data = preload}, {.run = load_unix}};
	const struct runtimes_news done = {.preloaded = true};
	struct runtimes_news unix_sockets = {.unix_sockets = true};

	jobs_run(jobs, sizeof(jobs) / sizeof(jobs[0]));
	resident_shrink(); /* loading took what is not needed any more */
	unix_sockets.err = jobs[1].err;
	if (atomic_load(&preload->stop))
		return NULL;
	if (jobs[1].err && jobs[1].err != -ECANCELED)
		preload->tell(&unix_sockets);
	if (preload->runtimes && !jobs[0].err)
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
