// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/eventfd.h>

#include "base/cleanup.h"
#include "base/interrupt.h"
#include "runtime/loader.h"

int loader_open(struct runtime_probes *probes, struct loader *ret_loader)
{
	*ret_loader =
	    (struct loader){.probes = probes, .news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	return ret_loader->news_fd < 0 ? -errno : 0;
}

static void end(struct loader_run *run)
{
	if (run->begun)
		interrupt_join(run->thread);
	run->begun = false;
	looks_clear(&run->waiting);
}

void loader_close(struct loader *loader)
{
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++)
		end(&loader->of[i]);
	cleanup_close(&loader->news_fd);
}

int loader_fd(const struct loader *loader)
{
	return loader->news_fd;
}

bool loader_runs(const struct loader *loader)
{
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++)
		if (loader->of[i].begun)
			return true;
	return false;
}

static void *load(void *data)
{
	struct loader_run *run = data;

	runtime_probes_load(run->probes, &run->found);
	atomic_store(&run->has_ended, true);
	eventfd_write(run->news_fd, 1);
	return NULL;
}

static int begin(const struct loader *loader, struct loader_run *run,
		 const struct classified *found)
{
	int err;

	run->probes = loader->probes;
	run->news_fd = loader->news_fd;
	run->found = *found;
	atomic_store(&run->has_ended, false);
	err = pthread_create(&run->thread, NULL, load, run);
	run->begun = !err;
	return -err;
}

int loader_begin(struct loader *loader, __u32 tgid, const struct classified *found)
{
	struct loader_run *run = &loader->of[found->driver - 1];
	int err = looks_add(&run->waiting, tgid, false);

	if (!err && !run->begun)
		err = begin(loader, run, found);
	if (err && !run->begun)
		looks_clear(&run->waiting);
	return err;
}

static void take(struct loader_run *run, void (*tell)(__u32 tgid, void *data), void *data)
{
	__u32 tgid;

	pthread_join(run->thread, NULL);
	run->begun = false;
	while (looks_take(&run->waiting, &tgid))
		tell(tgid, data);
}

void loader_take(struct loader *loader, void (*tell)(__u32 tgid, void *data), void *data)
{
	eventfd_t ended;

	if (eventfd_read(loader->news_fd, &ended))
		return;
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++)
		if (loader->of[i].begun && atomic_load(&loader->of[i].has_ended))
			take(&loader->of[i], tell, data);
}
