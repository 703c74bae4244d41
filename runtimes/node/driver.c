// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "node_probes.skel.h"
#include "runtime/driver.h"
#include "runtimes/node/node.h"

/* Without probes calls are still told apart by the stack. */
static const struct uprobe_kind probes[NODE_PROBES] = {
    [NODE_MADE] = {.program = "probe_opening_made"},
    [NODE_CONNECTS] = {.program = "probe_opening_connects"},
    [NODE_CLOSES] = {.program = "probe_opening_closes"},
    [NODE_LATER] = {.program = "probe_later_checks", .flags = RUNTIME_LATER},
    [NODE_WORK] = {.program = "probe_work_given", .flags = RUNTIME_WORKS},
    [NODE_QUEUES] = {.program = "probe_work_queued", .flags = RUNTIME_WORKS},
    [NODE_DONE] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_FILES] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_NAMES] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_SERVICES] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_RANDOM] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_POSTS] = {.program = "probe_message_posted"},
    [NODE_MESSAGES] = {.program = "probe_message_read"},
};

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	struct node node;
	int err = node_inspect(subject, image, &node);

	if (err)
		return err;
	found->runtime = node.runtime;
	found->sites = node.sites;
	return 0;
}

static void describe(const struct classified *found, char *ret_text)
{
	(void)found;
	snprintf(ret_text, CLASSIFIED_TEXT_MAX,
		 "following what Node reads, and the connections that it opens");
}

/* It is looked at again for probes that it needs only now. */
static bool is_same(const struct runtime *known, const struct runtime *found)
{
	(void)known;
	(void)found;
	return true;
}

const struct runtime_driver node_driver = {
    .name = "Node",
    .wanted = node_wanted,
    .wanted_count = NODE_WANTED,
    .detect = detect,
    .object = node_probes__elf_bytes,
    .object_name = "node_probes",
    .probes = probes,
    .probe_count = NODE_PROBES,
    .describe = describe,
    .is_same = is_same,
};
