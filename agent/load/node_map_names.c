// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <string.h>

#include "load/node_map_names.h"

/* As they are declared in bpf/engine, which tests/check compares. */
static const char *const names[] = {
    "requests",
    "sockets",
    "workers",
    "processes",
    "tracestates",
    "node",
    NODE_TRACES_NAME,
    "runtimes",
    "runtime_events",
    "goroutines",
    "round_trips",
    "messages",
    "go_sockets",
    "starts",
    "peers",
    "request_ids",
    "tasks",
    "queued",
    "adopted",
    "streams",
    "objects",
    "ruby_threads",
    "java_readers",
    "java_held",
    "newcomers",
    "ruby_queues",
    "ruby_places",
    "purposes",
    "inboxes",
    "written",
    "arguments",
    "python_taken",
    "laters",
    "java_begun",
    "works",
    "work_done",
    "v8_shapes",
    "listeners",
    "shares_reached",
    "sweep_asked",
    "cgroup_processes",
    "id_claims",
    "http2_served",
    "http2_calls",
    "go_heads",
};

bool node_maps_has(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

const char *node_maps_name(size_t i)
{
	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}
