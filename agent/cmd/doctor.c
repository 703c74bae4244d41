// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/privileges.h"
#include "cmd/bundle.h"
#include "cmd/colour.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/talk.h"
#include "engine/node.h"
#include "flows/counters.h"
#include "load/attach.h"
#include "load/control.h"
#include "load/features.h"
#include "load/filters.h"
#include "load/layout.h"
#include "load/links.h"
#include "load/map_memory.h"
#include "load/node.h"
#include "load/node_shares.h"
#include "load/table.h"
#include "load/tcx.h"

/* Fine; worth knowing; keeps ctxprop from its main job. */
enum finding { FINDING_OK, FINDING_NOTE, FINDING_BAD };

struct findings {
	json_t *array; /* NULL: text, at once */
	bool bad;
};

__attribute__((format(printf, 4, 5))) void findings_add(struct findings *findings,
							enum finding finding, const char *what,
							const char *format, ...);

static const char *const words[] = {
    [FINDING_OK] = "ok", [FINDING_NOTE] = "note", [FINDING_BAD] = "bad"};
static const enum colour colours[] = {
    [FINDING_OK] = COLOUR_GOOD, [FINDING_NOTE] = COLOUR_CAUTION, [FINDING_BAD] = COLOUR_BAD};

void findings_add(struct findings *findings, enum finding finding, const char *what,
		  const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings->bad |= finding == FINDING_BAD;
	if (findings->array) {
		json_array_append_new(findings->array,
				      json_pack("{ss, ss, ss}", "finding", words[finding], "what",
						what, "text", text));
		return;
	}
	colour_print(colours[finding], "%-5s", words[finding]);
	printf(" %-14s %s\n", what, text);
}

/* The oldest kernel that is tested. */
#define KERNEL_MAJOR 6
#define KERNEL_MINOR 1

/* How programs are attached to devices. Without rights the kernel does not say. */
static void examine_attachment(struct findings *findings)
{
	if (tcx_supported())
		findings_add(findings, FINDING_OK, "attachment", "TCX");
	else
		findings_add(findings, FINDING_OK, "attachment", "clsact; TCX came with Linux 6.6");
}

static void examine_release(struct findings *findings, const char *release)
{
	char *rest;
	unsigned long major = strtoul(release, &rest, 10),
		      minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
	bool old = major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR);

	findings_add(findings, old ? FINDING_NOTE : FINDING_OK, "kernel", "%s%s", release,
		     old ? ": older than 6.1, for which ctxprop is made and tested" : "");
}

/* Returns whether we have the rights to look further. */
static bool examine_kernel(struct findings *findings)
{
	char problem[256];
	struct utsname name;
	int err = features_check(problem, sizeof(problem));

	if (!uname(&name))
		examine_release(findings, name.release);
	if (err)
		findings_add(findings, FINDING_BAD, "features", "%s", problem);
	else
		findings_add(
		    findings, FINDING_OK, "features",
		    "bpf(2), cookies of network namespaces; this command has the capabilities "
		    "it needs");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		findings_add(findings, FINDING_NOTE, "BTF",
			     "none (CONFIG_DEBUG_INFO_BTF): requests cannot be followed");
	else
		findings_add(findings, FINDING_OK, "BTF", "/sys/kernel/btf/vmlinux");
	if (err != -EPERM)
		examine_attachment(findings);
	if (cgroup_id("/"))
		findings_add(findings, FINDING_OK, "cgroups", "version 2 is mounted");
	else
		findings_add(findings, FINDING_NOTE, "cgroups",
			     "no version 2 at /sys/fs/cgroup: rules cannot name cgroups");
	return err != -EPERM;
}

static void examine_hooks(struct findings *findings)
{
	struct probe_hooks hooks;

	if (node_find_hooks(&hooks)) {
		findings_add(findings, FINDING_NOTE, "probes",
			     "none of this build are attached: requests are not followed");
		return;
	}
	for (unsigned int i = 0; i < hooks.count; i++) {
		const struct probe_hook *hook = &hooks.event[i];
		char what[32];

		snprintf(what, sizeof(what), "probe %.24s", hook->event);
		if (hook->hook[0])
			findings_add(findings, FINDING_OK, what, "%s", hook->hook);
		else if (hook->waits)
			findings_add(findings, FINDING_OK, what,
				     "ready, not needed: no program that takes requests could ask "
				     "another one over a unix socket");
		else
			findings_add(findings, FINDING_NOTE, what, "no hook on this kernel: %s",
				     hook->err ? strerror(-hook->err) : "none was tried");
	}
}

/* Are goroutines, tasks and greenlets published for other profilers? */
static void examine_publish(struct findings *findings)
{
	static const char *const texts[] = {
	    [NODE_PUBLISH_NEVER] =
		"not what goroutines, tasks and greenlets work on: ctxpropd --publish never",
	    [NODE_PUBLISH_ALWAYS] =
		"what goroutines, tasks and greenlets work on, too: ctxpropd --publish always",
	    [NODE_PUBLISH_UNREAD] =
		"not what goroutines, tasks and greenlets work on, as no program of others reads "
		"traces_ctx_v1",
	    [NODE_PUBLISH_READ] =
		"what goroutines, tasks and greenlets work on, too: a program of others reads "
		"traces_ctx_v1",
	    [NODE_PUBLISH_SAMPLED] =
		"what goroutines, tasks and greenlets work on, too, and event loops: whenever a "
		"program of others takes a sample with traces_ctx_v1",
	    [NODE_PUBLISH_BLIND] =
		"not what goroutines, tasks and greenlets work on: ctxpropd cannot see whether a "
		"program of others reads traces_ctx_v1 (its log says why; "
		"--publish always does not need to)",
	};
	__u32 publish;

	if (node_publish(&publish) || publish >= sizeof(texts) / sizeof(texts[0]) ||
	    !texts[publish])
		return;
	findings_add(findings, publish == NODE_PUBLISH_BLIND ? FINDING_NOTE : FINDING_OK,
		     "published", "%s", texts[publish]);
}

static void examine_share(const struct share_reached *reached, __u64 times, void *data)
{
	struct findings *findings = data;

	if (reached->tgid)
		findings_add(findings, FINDING_NOTE, "share",
			     "process %u has reached its share of the table of %s: %llu entries "
			     "found no room",
			     reached->tgid, node_shares_table(reached->table),
			     (unsigned long long)times);
	else
		findings_add(findings, FINDING_NOTE, "share",
			     "the table of %s was full: %llu entries found no room",
			     node_shares_table(reached->table), (unsigned long long)times);
}

static void examine_shares(struct findings *findings)
{
	node_shares_each(examine_share, findings);
}

/* Capabilities that the daemon's process lacks; those of this command do not matter. */
static void examine_rights(struct findings *findings, pid_t pid)
{
	struct privileges_lack lack[PRIVILEGES_LACKS];
	int count = privileges_lacking(pid, lack);

	if (count < 0)
		findings_add(findings, FINDING_NOTE, "rights",
			     "of the daemon, process %d: they cannot be read: %s", pid,
			     strerror(-count));
	for (int i = 0; i < count; i++)
		findings_add(findings, FINDING_NOTE, "rights",
			     "the daemon, process %d, has no %s: %s", pid, lack[i].name,
			     lack[i].lost);
	if (!count)
		findings_add(findings, FINDING_OK, "rights",
			     "the daemon, process %d, has the capabilities to follow programs",
			     pid);
}

static void examine_daemon(struct findings *findings)
{
	struct policy_error error = {};
	struct talk_daemon daemon;

	if (talk_find_daemon(&daemon, &error)) {
		findings_add(findings, FINDING_BAD, "daemon", "%s", error.text);
		return;
	}
	findings_add(findings, FINDING_OK, "daemon", "answers; rules beside the built-in: %u",
		     daemon.rules);
	if (daemon.pid)
		examine_rights(findings, daemon.pid);
}

/* Returns false if no programs of ours can be attached to any device. */
static bool examine_layer(struct findings *findings, const struct pins *pins)
{
	char why[128];
	int err = layout_check(pins->layer_dir, why, sizeof(why)), paused;

	if (err == -ENOENT) {
		findings_add(findings, FINDING_BAD, "pins", "nothing at %s: start ctxpropd",
			     pins->layer_dir);
		return false;
	}
	if (err) {
		findings_add(findings, FINDING_BAD, "pins", "%s: of another build: %s",
			     pins->layer_dir, why);
		return false;
	}
	findings_add(findings, FINDING_OK, "pins", "%s", pins->layer_dir);
	paused = control_is_paused(pins->layer_dir);
	if (paused > 0)
		findings_add(findings, FINDING_NOTE, "editing",
			     "switched off, by 'ctxprop pause' or since ctxpropd ended");
	return true;
}

/* How full is the flow table, and was it ever full? */
static void examine_flows(struct findings *findings, const struct pins *pins)
{
	_cleanup_close_ int flows = command_open_map(pins, "flows");
	_cleanup_close_ int counts = command_open_map(pins, "counters");
	struct bpf_map_info info = {};
	unsigned long total, shifted;
	__u32 size = sizeof(info);
	struct counters counters;

	if (flows < 0 || counts < 0 || bpf_obj_get_info_by_fd(flows, &info, &size) ||
	    table_count(flows, TABLE_ANYWHERE, &total, &shifted) ||
	    counters_read(counts, &counters))
		return;
	findings_add(
	    findings,
	    counters.count[REASON_TABLE_FULL] || counters.count[REASON_CROWDED] ||
		    counters.count[REASON_SHARE_FULL] ||
		    total > (unsigned long)info.max_entries / 8 * 7
		? FINDING_NOTE
		: FINDING_OK,
	    "flow table",
	    "%lu of %u flows, %lu of them shifted; flows that made room when it was full: %llu, "
	    "that found none: %llu; requests whose sender had used up its share: %llu; SYN-ACKs "
	    "that nobody asked for: %llu",
	    total, info.max_entries, shifted, (unsigned long long)counters.count[REASON_CROWDED],
	    (unsigned long long)counters.count[REASON_TABLE_FULL],
	    (unsigned long long)counters.count[REASON_SHARE_FULL],
	    (unsigned long long)counters.count[REASON_UNASKED]);
}

#define MIB (1024.0 * 1024.0)

/* Kernel memory of the tables: pinned maps stay charged to the container that made them. */
static void examine_memory(struct findings *findings, const struct pins *pins)
{
	struct map_memory memory = {};
	int err = map_memory_of(pins->layer_dir, &memory);

	if (!err)
		err = map_memory_of(node_maps_layer_dir(), &memory);
	if (!err)
		err = map_memory_add(NODE_TRACES_PATH, &memory);
	if (err && err != -ENOENT)
		findings_add(findings, FINDING_NOTE, "memory", "of the tables: %s", strerror(-err));
	else
		findings_add(findings, FINDING_OK, "memory",
			     "the tables take %.1f MiB of the kernel's memory; all of them full, "
			     "%.1f MiB",
			     (double)memory.now / MIB, (double)memory.most / MIB);
}

struct device_search {
	struct findings *findings;
	const char *layer_dir;
};

static void count_filter(const struct filter *filter, void *data)
{
	int *count = data;

	*count += filter->handle != 0;
}

/* Programs and classifiers at a hook, ours included. */
static int count_at(int ifindex, enum hook hook)
{
	int tcx = tcx_count(ifindex, hook), clsact = 0;

	if (filters_each(ifindex, hook, count_filter, &clsact))
		clsact = 0;
	return clsact + (tcx > 0 ? tcx : 0);
}

static void examine_device(const struct link *link, void *data)
{
	const struct device_search *search = data;
	const char *why_not = attach_why_not(link);
	int ours = attach_count(search->layer_dir, link->ifindex);
	int others = count_at(link->ifindex, HOOK_IN) + count_at(link->ifindex, HOOK_OUT) - ours;

	if (!link->up || why_not)
		findings_add(search->findings, ours ? FINDING_NOTE : FINDING_OK, link->name,
			     "%s: %s", ours ? "has our programs" : "left alone",
			     why_not ? why_not : "down");
	else if (ours < HOOKS)
		findings_add(search->findings, FINDING_BAD, link->name,
			     "our programs are at %d of its %d hooks", ours, HOOKS);
	else
		findings_add(search->findings, FINDING_OK, link->name,
			     "our programs are at both hooks");
	if (others > 0)
		findings_add(search->findings, FINDING_NOTE, link->name,
			     "%d programs or classifiers of others, too: they may drop or redirect "
			     "what we send",
			     others);
}

static void examine_devices(struct findings *findings, const struct pins *pins)
{
	struct device_search search = {.findings = findings, .layer_dir = pins->layer_dir};
	struct links_handler handler = {.on_link = examine_device, .data = &search};
	int err = links_dump(&handler);

	if (err)
		findings_add(findings, FINDING_BAD, "devices", "%s", strerror(-err));
}

static const char *bundle;

const struct option_row command_doctor_options[] = {
    {"bundle", 0, "FILE",
     "write a tar.gz for who is asked for help: what this command says, counters, rules, options "
     "and the kernel; nothing of requests, no secrets",
     .text = &bundle},
    {},
};

int command_doctor(const struct pins *pins, const struct command_flags *flags)
{
	struct findings findings = {};
	bool rights;
	int status;

	if (bundle)
		return bundle_write(bundle, flags);
	findings.array = flags->json ? json_array() : NULL;
	rights = examine_kernel(&findings);
	examine_daemon(&findings);
	if (!rights)
		findings_add(&findings, FINDING_NOTE, "pins",
			     "not examined, that takes these capabilities");
	else if (examine_layer(&findings, pins)) {
		examine_flows(&findings, pins);
		examine_hooks(&findings);
		examine_publish(&findings);
		examine_memory(&findings, pins);
		examine_shares(&findings);
		examine_devices(&findings, pins);
	}
	status = flags->json ? json_print(findings.array) : COMMAND_OK;
	return findings.bad ? COMMAND_REFUSED : status;
}
