// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "runtimes/go/golang.h"
#include "runtimes/go/labels.h"

/* g.m.curg and g.labels (Go, src/runtime/runtime2.go), from this version 1.<minor> on. */
static const struct version {
	unsigned int minor;
	__u16 curg, labels;
	enum profile_go_form form;
} versions[] = {
    {18, 192, 360, PROFILE_GO_MAP},   {21, 192, 344, PROFILE_GO_MAP},
    {23, 192, 352, PROFILE_GO_MAP},   {24, 192, 352, PROFILE_GO_SLICE},
    {25, 184, 344, PROFILE_GO_SLICE}, {26, 184, 352, PROFILE_GO_SLICE},
};
#define VERSIONS  (sizeof(versions) / sizeof(versions[0]))
#define MINOR_MAX 27

struct profile_go golang_labels_of(unsigned int minor)
{
	struct profile_go go = {};

	for (size_t i = 0; minor <= MINOR_MAX && i < VERSIONS; i++)
		if (minor >= versions[i].minor)
			go = (struct profile_go){.curg = versions[i].curg,
						 .labels = versions[i].labels,
						 .form = versions[i].form};
	return go;
}

void golang_labels(struct elf_image *image, struct profile_go *ret_go)
{
	unsigned int minor;
	__s32 g;

	*ret_go = (struct profile_go){};
	if (golang_goroutine(image, &minor, &g))
		return;
	*ret_go = golang_labels_of(minor);
	ret_go->g = g;
}
