// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "haproxy_probes.skel.h"
#include "runtime/driver.h"
#include "runtimes/haproxy/haproxy.h"

static const struct uprobe_kind probes[] = {{.program = "probe_stream_begins"}};

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	struct haproxy haproxy;
	int err = haproxy_inspect(image, &haproxy);

	(void)subject;
	if (err)
		return err;
	found->runtime = haproxy.runtime;
	found->sites = haproxy.sites;
	found->entry = haproxy.entry;
	return 0;
}

/* Streams are known by where they begin, or not at all. */
static void attached(struct classified *found, int err)
{
	if (err)
		found->runtime.kind = RUNTIME_THREADS;
}

static void describe(const struct classified *found, char *ret_text)
{
	(void)found;
	snprintf(ret_text, CLASSIFIED_TEXT_MAX, "following streams of HAProxy");
}

const struct runtime_driver haproxy_driver = {
    .name = "HAProxy",
    .detect = detect,
    .relocate = haproxy_relocate,
    .object = haproxy_probes__elf_bytes,
    .object_name = "haproxy_probes",
    .probes = probes,
    .probe_count = sizeof(probes) / sizeof(probes[0]),
    .attached = attached,
    .describe = describe,
};
