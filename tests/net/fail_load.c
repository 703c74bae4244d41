// SPDX-License-Identifier: Apache-2.0
/* To be preloaded: the BPF object that FAIL_LOAD names cannot be loaded. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

int bpf_object__load(struct bpf_object *object)
{
	int (*load)(struct bpf_object *) =
	    (int (*)(struct bpf_object *))dlsym(RTLD_NEXT, "bpf_object__load");
	const char *which = getenv("FAIL_LOAD");

	if (!which || strcmp(bpf_object__name(object), which) != 0)
		return load(object);
	errno = ENOSPC;
	return -ENOSPC;
}
