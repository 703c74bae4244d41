// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/take/profiler.h"

#define TEXTS_MAX 65536 /* of functions that runtimes know */

static int prepare(struct profiler *profiler, __u32 sources, const struct registered *registered,
		   struct proc_reader *reader)
{
	profiler->functions = runtime_functions_new();
	profiler->known = name_cache_new();
	profiler->files = files_new(profiler->sampler);
	if (profiler->files)
		profiler->threads =
		    thread_data_new(profiler->sampler, profiler->files, sources, registered);
	if (profiler->threads)
		profiler->processes =
		    processes_new(profiler->sampler, profiler->files, profiler->threads, reader);
	if (!profiler->functions || !profiler->known || !profiler->processes)
		return -ENOMEM;
	kernel_names_watch(name_cache_kernel(profiler->known));
	return 0;
}

int profiler_open(const struct sampler_options *options, const struct registered *registered,
		  struct proc_reader *reader, struct profiler **ret_profiler, char *ret_why)
{
	struct profiler *profiler = calloc(1, sizeof(*profiler));
	int err = profiler ? sampler_open(options, &profiler->sampler, ret_why) : -ENOMEM;

	if (!err)
		err = prepare(profiler, options->sources, registered, reader);
	if (!err) {
		*ret_profiler = profiler;
		return 0;
	}
	if (err == -ENOMEM)
		snprintf(ret_why, SAMPLER_WHY_MAX, "out of memory");
	profiler_close(profiler);
	return err;
}

void profiler_stop(struct profiler *profiler)
{
	sampler_close(profiler->sampler);
	profiler->sampler = NULL;
}

void profiler_close(struct profiler *profiler)
{
	if (!profiler)
		return;
	runtime_functions_free(profiler->functions);
	processes_free(profiler->processes);
	thread_data_free(profiler->threads);
	files_free(profiler->files);
	name_cache_free(profiler->known);
	profiler_stop(profiler);
	free(profiler);
}

unsigned int profiler_used(const struct profiler *profiler)
{
	const unsigned int used[] = {
	    files_used(profiler->files), name_cache_used(profiler->known),
	    (unsigned int)(runtime_functions_texts(profiler->functions)->count * 100 / TEXTS_MAX)};
	unsigned int most = 0;

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		most = used[i] > most ? used[i] : most;
	return most;
}
