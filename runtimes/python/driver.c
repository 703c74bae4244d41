// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "python_probes.skel.h"
#include "python_show.skel.h"
#include "runtime/driver.h"
#include "runtimes/python/python.h"

static const struct uprobe_kind probes[PYTHON_PROBES] = {
    [PYTHON_MADE] = {.program = "probe_task_made"},
    [PYTHON_WOKEN] = {.program = "probe_task_woken"},
    [PYTHON_PUT] = {.program = "probe_queue_put"},
    [PYTHON_ASKED] = {.program = "probe_queue_asked"},
    [PYTHON_GOT] = {.program = "probe_queue_got", .at_return = true},
    [PYTHON_APPENDS] = {.program = "probe_deque_appends", .flags = RUNTIME_POOLS},
    [PYTHON_POPS] = {.program = "probe_deque_pops", .flags = RUNTIME_POOLS},
    [PYTHON_POPPED] = {.program = "probe_deque_popped", .flags = RUNTIME_POOLS, .at_return = true},
    [PYTHON_CALLED] = {.program = "probe_transport_called"},
    [PYTHON_ENTERS] = {.program = "probe_transport_enters"},
    [PYTHON_WRITES] = {.program = "probe_transport_writes"},
    [PYTHON_GREENLET_MADE] = {.program = "probe_greenlet_made"},
    [PYTHON_GREENLET_FREED] = {.program = "probe_greenlet_freed"},
    [PYTHON_STEP_ENDS] = {.program = "probe_step_ends", .flags = RUNTIME_SHOWN, .asks = true},
    [PYTHON_STEP_BEGINS] = {.program = "probe_step_begins", .flags = RUNTIME_SHOWN, .asks = true},
    [PYTHON_SWITCHES] = {.program = "probe_switch_done", .flags = RUNTIME_SHOWN, .asks = true},
    /* Where threads were made by tasks. */
    [PYTHON_LEAVES] = {.program = "probe_context_left",
		       .flags = RUNTIME_SHOWN | RUNTIME_POOLS,
		       .asks = true},
    [PYTHON_HAS_ENTERED] = {.program = "probe_context_entered",
			    .flags = RUNTIME_SHOWN | RUNTIME_POOLS,
			    .asks = true},
};

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	struct python python;
	enum why why = WHY_NONE;
	int err = python_inspect(subject, image, &python, &why);

	found->why = err ? why : WHY_NONE;
	if (err)
		return err;
	found->runtime = python.runtime;
	found->sites = python.sites;
	found->major = 3;
	found->minor = python.minor;
	return 0;
}

/* Tasks and queues are followed as soon as something of them can be seen. */
static void attached(struct classified *found, int err)
{
	if (err)
		return;
	found->runtime.flags |= RUNTIME_TASKS;
	if (probe_sites_count(&found->sites, PYTHON_ENTERS)) /* it has uvloop */
		found->runtime.flags |= RUNTIME_TRANSPORTS;
}

static void describe(const struct classified *found, char *ret_text)
{
	__u32 flags = found->runtime.flags;

	if (flags & RUNTIME_COSTLY)
		snprintf(ret_text, CLASSIFIED_TEXT_MAX,
			 "profilers are not shown its contexts for some minutes, its tasks or "
			 "greenlets change more than %d times a second",
			 RUNTIME_CHANGES_MAX);
	else if (flags & RUNTIME_TASKS)
		snprintf(ret_text, CLASSIFIED_TEXT_MAX,
			 "following tasks and queues of Python 3.%u%s", found->minor,
			 flags & RUNTIME_POOLS ? ", and what its threads are handed" : "");
}

/* It is looked at again for probes that it needs only now. */
static bool is_same(const struct runtime *known, const struct runtime *found)
{
	return !((known->flags ^ found->flags) & (RUNTIME_TASKS | RUNTIME_COSTLY));
}

const struct runtime_driver python_driver = {
    .name = "Python",
    .wanted = python_wanted,
    .wanted_count = PYTHON_WANTED,
    .detect = detect,
    .object = python_probes__elf_bytes,
    .object_name = "python_probes",
    .asking_object = python_show__elf_bytes,
    .asking_name = "python_show",
    .probes = probes,
    .probe_count = PYTHON_PROBES,
    .attached = attached,
    .describe = describe,
    .is_same = is_same,
};
