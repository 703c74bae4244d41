// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/sampling.h"

#define TEXTS_MAX 65536 /* of functions that runtimes know */

static int prepare(struct sampling *sampling, __u32 sources, const struct registered *registered,
		   struct proc_reader *reader)
{
	sampling->named = named_new();
	sampling->known = known_names_new();
	sampling->files = files_new(sampling->sampler);
	if (sampling->files)
		sampling->threads =
		    thread_data_new(sampling->sampler, sampling->files, sources, registered);
	if (sampling->threads)
		sampling->processes =
		    processes_new(sampling->sampler, sampling->files, sampling->threads, reader);
	if (!sampling->named || !sampling->known || !sampling->processes)
		return -ENOMEM;
	kernel_names_watch(known_names_kernel(sampling->known));
	return 0;
}

int sampling_open(const struct sampler_options *options, const struct registered *registered,
		  struct proc_reader *reader, struct sampling **ret_sampling, char *ret_why)
{
	struct sampling *sampling = calloc(1, sizeof(*sampling));
	int err = sampling ? sampler_open(options, &sampling->sampler, ret_why) : -ENOMEM;

	if (!err)
		err = prepare(sampling, options->sources, registered, reader);
	if (!err) {
		*ret_sampling = sampling;
		return 0;
	}
	if (err == -ENOMEM)
		snprintf(ret_why, SAMPLER_WHY_MAX, "out of memory");
	sampling_close(sampling);
	return err;
}

void sampling_stop(struct sampling *sampling)
{
	sampler_close(sampling->sampler);
	sampling->sampler = NULL;
}

void sampling_close(struct sampling *sampling)
{
	if (!sampling)
		return;
	named_free(sampling->named);
	processes_free(sampling->processes);
	thread_data_free(sampling->threads);
	files_free(sampling->files);
	known_names_free(sampling->known);
	sampling_stop(sampling);
	free(sampling);
}

unsigned int sampling_used(const struct sampling *sampling)
{
	const unsigned int used[] = {
	    files_used(sampling->files), known_names_used(sampling->known),
	    (unsigned int)(named_texts(sampling->named)->count * 100 / TEXTS_MAX)};
	unsigned int most = 0;

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		most = used[i] > most ? used[i] : most;
	return most;
}
