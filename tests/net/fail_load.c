// SPDX-License-Identifier: Apache-2.0
/*
 * To be preloaded: the BPF object that FAIL_LOAD names cannot be loaded. What STALL_LOAD names
 * cannot be at first, and takes STALL_SECONDS from then on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#define STALL_SECONDS 6

static int is_named(const char *variable, const struct bpf_object *object)
{
	const char *name = getenv(variable);

	return name && !strcmp(bpf_object__name(object), name);
}

static int fail(void)
{
	errno = ENOSPC;
	return -ENOSPC;
}

int bpf_object__load(struct bpf_object *object)
{
	static atomic_bool has_failed;
	int (*load)(struct bpf_object *) =
	    (int (*)(struct bpf_object *))dlsym(RTLD_NEXT, "bpf_object__load");

	if (is_named("FAIL_LOAD", object))
		return fail();
	if (is_named("STALL_LOAD", object)) {
		if (!atomic_exchange(&has_failed, 1))
			return fail();
		sleep(STALL_SECONDS);
	}
	return load(object);
}
