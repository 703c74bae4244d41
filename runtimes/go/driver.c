// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "go_probes.skel.h"
#include "runtime/driver.h"
#include "runtimes/go/golang.h"

static const struct uprobe_kind probes[GOLANG_PROBES] = {
    [GOLANG_STARTED] = {.program = "probe_go_started"},
    [GOLANG_CONNECTION] = {.program = "probe_go_connection"},
    [GOLANG_ROUND_TRIP] = {.program = "probe_go_round_trip"},
    [GOLANG_STREAM_SERVED] = {.program = "probe_go_stream_served", .flags = RUNTIME_HTTP2},
    [GOLANG_STREAM_CALLED] = {.program = "probe_go_stream_called", .flags = RUNTIME_HTTP2},
    [GOLANG_GRPC_SERVED] = {.program = "probe_go_grpc_served", .flags = RUNTIME_HTTP2},
    [GOLANG_GRPC_CALLS] = {.program = "probe_go_grpc_calls", .flags = RUNTIME_HTTP2},
    [GOLANG_GRPC_PUTS] = {.program = "probe_go_grpc_puts", .flags = RUNTIME_HTTP2},
    [GOLANG_GRPC_WRITES] = {.program = "probe_go_grpc_writes", .flags = RUNTIME_HTTP2},
    [GOLANG_SEND] = {.program = "probe_go_send", .flags = RUNTIME_POOLS},
    [GOLANG_RECEIVE] = {.program = "probe_go_receive", .flags = RUNTIME_POOLS},
    [GOLANG_STORE] = {.program = "probe_go_store", .flags = RUNTIME_POOLS},
    [GOLANG_TAKE] = {.program = "probe_go_take", .flags = RUNTIME_POOLS},
    [GOLANG_WAKES] = {.program = "probe_go_wakes", .flags = RUNTIME_POOLS},
    [GOLANG_CLOSES] = {.program = "probe_go_closes", .flags = RUNTIME_POOLS},
    [GOLANG_GROUP] = {.program = "probe_go_group", .flags = RUNTIME_POOLS},
    [GOLANG_RUNS] = {.program = "probe_go_runs", .flags = RUNTIME_SHOWN},
};

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	struct golang golang;
	enum why why = WHY_NONE;
	int err = golang_inspect(image, &golang, &why);

	(void)subject;
	found->why = err ? why : WHY_NONE;
	if (err == -ENOTSUP)
		found->runtime.kind = RUNTIME_OPAQUE;
	if (err)
		return err;
	found->runtime = golang.runtime;
	found->sites = golang.sites;
	found->entry = golang.entry;
	found->major = 1;
	found->minor = golang.minor;
	return 0;
}

static void relocate(struct runtime *runtime, __u64 bias)
{
	golang_relocate(&runtime->go, bias);
}

/* Without probes it is only known that goroutines do the work. */
static void attached(struct classified *found, int err)
{
	if (err)
		found->runtime.kind = RUNTIME_OPAQUE;
}

static void describe(const struct classified *found, char *ret_text)
{
	__u32 flags = found->runtime.flags;

	if (flags & RUNTIME_COSTLY)
		snprintf(ret_text, CLASSIFIED_TEXT_MAX,
			 "profilers are not shown its contexts for some minutes, its goroutines "
			 "change more than %d times a second",
			 RUNTIME_CHANGES_MAX);
	else
		snprintf(ret_text, CLASSIFIED_TEXT_MAX, "following goroutines of Go 1.%u%s",
			 found->minor, flags & RUNTIME_POOLS ? ", and its channels" : "");
}

const struct runtime_driver go_driver = {
    .name = "Go",
    .detect = detect,
    .relocate = relocate,
    .object = go_probes__elf_bytes,
    .object_name = "go_probes",
    .probes = probes,
    .probe_count = GOLANG_PROBES,
    .attached = attached,
    .describe = describe,
};
