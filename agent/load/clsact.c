// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "load/clsact.h"
#include "load/filters.h"
#include "pins/pins.h"

#define HANDLE_MAX      0x7fffffff /* above are those of other kinds */
#define PRIORITY_FIRST  1          /* on ingress */
#define PRIORITY_EGRESS 0xff00     /* above what the kernel chooses by itself (0xc000 and down) */
#define PRIORITY_LAST   0xffff
#define PLACES_TRIED    16 /* priorities that classifiers of other kinds may hold */

static const enum bpf_tc_attach_point attach_points[HOOKS] = {
    [HOOK_IN] = BPF_TC_INGRESS,
    [HOOK_OUT] = BPF_TC_EGRESS,
};

/* What one look at a hook tells. */
struct survey {
	const char *layer_dir; /* NULL: nobody's */
	int own;               /* classifiers of this layer */
	int total;             /* all classifiers */
	struct filter found;   /* one of this layer's, if own > 0 */
	__u32 last_priority, last_handle;
};

static bool is_own(const char *layer_dir, __u32 prog_id)
{
	char path[PINS_PATH_MAX];

	if (!layer_dir || !prog_id)
		return false;
	snprintf(path, sizeof(path), "%s/progs/%u", layer_dir, prog_id);
	return !access(path, F_OK);
}

static void look(const struct filter *filter, void *data)
{
	struct survey *survey = data;

	if (!filter->handle)
		return; /* the head of a priority's list */
	survey->total++;
	if (filter->priority > survey->last_priority)
		survey->last_priority = filter->priority;
	if (filter->handle > survey->last_handle && filter->handle < HANDLE_MAX)
		survey->last_handle = filter->handle;
	if (is_own(survey->layer_dir, filter->prog_id)) {
		survey->own++;
		survey->found = *filter;
	}
}

static int survey_hook(const char *layer_dir, int ifindex, enum hook hook, struct survey *ret)
{
	*ret = (struct survey){.layer_dir = layer_dir};
	return filters_each(ifindex, hook, look, ret);
}

static int attach_at(int prog_fd, int ifindex, enum hook hook, __u32 priority, __u32 handle,
		     __u32 flags)
{
	LIBBPF_OPTS(bpf_tc_hook, at, .ifindex = ifindex, .attach_point = attach_points[hook]);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd, .priority = priority, .handle = handle,
		    .flags = flags);

	return bpf_tc_attach(&at, &opts);
}

/* Where a new classifier goes. A new one runs before the others of its priority. */
static __u32 first_choice(const struct survey *survey, enum hook hook)
{
	if (hook == HOOK_IN)
		return PRIORITY_FIRST;
	if (survey->last_priority < PRIORITY_EGRESS)
		return PRIORITY_EGRESS;
	return survey->last_priority < PRIORITY_LAST ? survey->last_priority + 1 : PRIORITY_LAST;
}

static int attach_new(const struct survey *survey, int prog_fd, int ifindex, enum hook hook)
{
	LIBBPF_OPTS(bpf_tc_hook, at, .ifindex = ifindex, .attach_point = attach_points[hook]);
	__u32 priority = first_choice(survey, hook);
	int err = bpf_tc_hook_create(&at);

	if (err && err != -EEXIST)
		return err;
	for (__u32 i = 0; i < PLACES_TRIED; i++) {
		__u32 place = hook == HOOK_IN ? priority + i : priority - i;

		/* A priority may belong to another protocol or kind. */
		err = attach_at(prog_fd, ifindex, hook, place, survey->last_handle + 1, 0);
		if (err != -EEXIST && err != -EINVAL)
			break;
	}
	return err;
}

int clsact_attached(const char *layer_dir, int ifindex, enum hook hook)
{
	struct survey survey;
	int err = survey_hook(layer_dir, ifindex, hook, &survey);

	return err ? err : survey.own > 0;
}

int clsact_used(int ifindex, enum hook hook)
{
	struct survey survey;
	int err = survey_hook(NULL, ifindex, hook, &survey);

	return err ? err : survey.total > 0;
}

int clsact_attach(const char *layer_dir, int prog_fd, int ifindex, enum hook hook)
{
	struct survey survey;
	int err = survey_hook(layer_dir, ifindex, hook, &survey);

	if (err)
		return err;
	if (!survey.own)
		return attach_new(&survey, prog_fd, ifindex, hook);
	return attach_at(prog_fd, ifindex, hook, survey.found.priority, survey.found.handle,
			 BPF_TC_F_REPLACE);
}

int clsact_detach(const char *layer_dir, int ifindex, enum hook hook)
{
	LIBBPF_OPTS(bpf_tc_hook, at, .ifindex = ifindex, .attach_point = attach_points[hook]);
	struct survey survey;
	int err = survey_hook(layer_dir, ifindex, hook, &survey);

	while (!err && survey.own) {
		LIBBPF_OPTS(bpf_tc_opts, opts, .priority = survey.found.priority,
			    .handle = survey.found.handle);

		err = bpf_tc_detach(&at, &opts);
		if (!err)
			err = survey_hook(layer_dir, ifindex, hook, &survey);
	}
	return err;
}

int clsact_remove_if_empty(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, both, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	struct survey in, out;
	int err = survey_hook(NULL, ifindex, HOOK_IN, &in);

	if (!err)
		err = survey_hook(NULL, ifindex, HOOK_OUT, &out);
	if (err || in.total || out.total)
		return err;
	err = bpf_tc_hook_destroy(&both);
	return err == -ENOENT || err == -EINVAL ? 0 : err;
}
