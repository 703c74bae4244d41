// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/sampling.h"

#define TEXTS_MAX 65536 /* of functions that runtimes know */

static int prepare(struct sampling *sampling, __u32 sources, const struct registered *registered)
{
	sampling->named = named_new();
	sampling->known = known_names_new();
	sampling->files = files_new(sampling->sampler);
	if (sampling->files)
		sampling->threads =
		    thread_data_new(sampling->sampler, sampling->files, sources, registered);
	if (sampling->threads)
		sampling->processes =
		    processes_new(sampling->sampler, sampling->files, sampling->threads);
	return sampling->named && sampling->known && sampling->processes ? 0 : -ENOMEM;
}

int sampling_open(const struct sampler_options *options, const struct registered *registered,
		  struct sampling **ret_sampling, char *ret_why)
{
	struct sampling *sampling = calloc(1, sizeof(*sampling));
	int err = sampling ? sampler_open(options, &sampling->sampler, ret_why) : -ENOMEM;

	if (!err)
		err = prepare(sampling, options->sources, registered);
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

bool sampling_is_full(const struct sampling *sampling)
{
	return files_are_many(sampling->files) || known_names_are_many(sampling->known) ||
	       named_texts(sampling->named)->count > TEXTS_MAX;
}
