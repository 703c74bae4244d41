// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "ruby_probes.skel.h"
#include "runtime/driver.h"
#include "runtimes/ruby/ruby.h"

static const struct uprobe_kind probes[RUBY_PROBES] = {
    [RUBY_PUT] = {.program = "probe_ruby_put"},
    [RUBY_TAKEN] = {.program = "probe_ruby_taken"},
    [RUBY_ASKED] = {.program = "probe_ruby_asked"},
};

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	struct ruby ruby;
	enum why why = WHY_NONE;
	int err = ruby_inspect(subject, image, &ruby, &why);

	found->why = why;
	if (err)
		return err;
	found->runtime = ruby.runtime;
	found->sites = ruby.sites;
	found->major = ruby.major;
	found->minor = ruby.minor;
	return 0;
}

/* Without its queues, threads of Ruby are followed by what they hold. */
static void attached(struct classified *found, int err)
{
	if (!err)
		found->runtime.flags |= RUNTIME_QUEUES;
}

static void describe(const struct classified *found, char *ret_text)
{
	const char *why = why_text(found->why);

	snprintf(ret_text, CLASSIFIED_TEXT_MAX,
		 "following connections%s in the threads of Ruby %u.%u%s%s",
		 found->runtime.flags & RUNTIME_QUEUES ? " and queues" : "", found->major,
		 found->minor, why ? ": " : "", why ? why : "");
}

const struct runtime_driver ruby_driver = {
    .name = "Ruby",
    .wanted = ruby_wanted,
    .wanted_count = RUBY_WANTED,
    .detect = detect,
    .object = ruby_probes__elf_bytes,
    .object_name = "ruby_probes",
    .probes = probes,
    .probe_count = RUBY_PROBES,
    .attached = attached,
    .describe = describe,
};
