// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_probes.h"
#include "runtime/go_programs.h"
#include "runtime/haproxy_programs.h"
#include "runtime/node_programs.h"
#include "runtime/python.h"
#include "runtime/python_programs.h"
#include "runtime/ruby_programs.h"

typedef int (*open_programs)(struct uprobe_pins *pins, struct uprobe_programs **ret_programs);

static struct runtime_probe open_probe(struct uprobe_pins *pins, open_programs open)
{
	struct runtime_probe probe = {};

	probe.err = open(pins, &probe.programs);
	return probe;
}

void runtime_probes_open(struct uprobe_pins *pins, runtimes_lack lack,
			 struct runtime_probes *ret_probes)
{
	*ret_probes = (struct runtime_probes){
	    .lack = lack,
	    .python = open_probe(pins, python_programs_open),
	    .haproxy = open_probe(pins, haproxy_programs_open),
	    .ruby = open_probe(pins, ruby_programs_open),
	    .node = open_probe(pins, node_programs_open),
	};
	ret_probes->go_err = go_programs_open(pins, &ret_probes->go);
}

void runtime_probes_close(struct runtime_probes *probes)
{
	go_programs_close(probes->go);
	uprobe_programs_close(probes->python.programs);
	uprobe_programs_close(probes->haproxy.programs);
	uprobe_programs_close(probes->ruby.programs);
	uprobe_programs_close(probes->node.programs);
	*probes = (struct runtime_probes){};
}

/* Without probes it is only known that goroutines do the work. */
static int attach_to_go(struct runtime_probes *probes, const struct subject *subject,
			struct classified *found)
{
	int err = probes->go_err;

	if (!err)
		err = go_programs_attach(probes->go, subject, &found->golang, found->runtime.flags);
	if (err)
		found->runtime.kind = RUNTIME_OPAQUE;
	return err;
}

/* Tasks and queues are followed as soon as something of them can be seen. */
static int attach_to_python(const struct runtime_probe *probe, const struct subject *subject,
			    struct classified *found)
{
	int err = probe->err;

	if (!found->sites.count)
		return 0;
	if (!err)
		err = python_programs_attach(probe->programs, subject, &found->sites);
	if (err)
		return err;
	found->runtime.flags |= RUNTIME_TASKS;
	if (probe_sites_count(&found->sites, PYTHON_ENTERS)) /* it has uvloop */
		found->runtime.flags |= RUNTIME_TRANSPORTS;
	return 0;
}

/* Without its queues, threads of Ruby are followed by what they hold. */
static int attach_to_ruby(const struct runtime_probe *probe, const struct subject *subject,
			  struct classified *found)
{
	int err = probe->err;

	if (!found->sites.count)
		return 0;
	if (!err)
		err = ruby_programs_attach(probe->programs, subject, &found->sites);
	if (!err)
		found->runtime.flags |= RUNTIME_QUEUES;
	return err;
}

/* Streams are known by where they begin, or not at all. */
static int attach_to_haproxy(const struct runtime_probe *probe, const struct subject *subject,
			     struct classified *found)
{
	int err = probe->err;

	if (!err)
		err = haproxy_programs_attach(probe->programs, subject, &found->sites);
	if (err)
		found->runtime.kind = RUNTIME_THREADS;
	return err;
}

/* Without probes calls are still told apart by the stack. */
static int attach_to_node(const struct runtime_probe *probe, const struct subject *subject,
			  const struct classified *found)
{
	return probe->err ? probe->err
			  : node_programs_attach(probe->programs, subject, &found->sites,
						 found->runtime.flags);
}

static int attach(struct runtime_probes *probes, const struct subject *subject,
		  struct classified *found)
{
	switch (found->runtime.kind) {
	case RUNTIME_GO:
		return attach_to_go(probes, subject, found);
	case RUNTIME_PYTHON:
		return attach_to_python(&probes->python, subject, found);
	case RUNTIME_RUBY:
		return attach_to_ruby(&probes->ruby, subject, found);
	case RUNTIME_HAPROXY:
		return attach_to_haproxy(&probes->haproxy, subject, found);
	case RUNTIME_NODE:
		return attach_to_node(&probes->node, subject, found);
	default:
		return 0;
	}
}

static void tell_lack(runtimes_lack lack, const char *runtime, int err, bool *said)
{
	if (err && !*said)
		lack(runtime, err);
	*said |= err != 0;
}

static void tell_lack_of(runtimes_lack lack, const char *runtime, struct runtime_probe *probe)
{
	int err = probe->programs ? uprobe_programs_lack(probe->programs) : probe->err;

	tell_lack(lack, runtime, err, &probe->said);
}

static void tell_lacks(struct runtime_probes *probes)
{
	int go_err = probes->go ? go_programs_lack(probes->go) : probes->go_err;

	tell_lack(probes->lack, "Go", go_err, &probes->go_said);
	tell_lack_of(probes->lack, "Python", &probes->python);
	tell_lack_of(probes->lack, "HAProxy", &probes->haproxy);
	tell_lack_of(probes->lack, "Ruby", &probes->ruby);
	tell_lack_of(probes->lack, "Node", &probes->node);
}

int runtime_probes_attach(struct runtime_probes *probes, const struct subject *subject,
			  struct classified *found)
{
	int err = attach(probes, subject, found);

	tell_lacks(probes);
	return err;
}

const struct golang *runtime_probes_known(const struct runtime_probes *probes,
					  const struct stat *file)
{
	return probes->go ? go_programs_known(probes->go, file) : NULL;
}

void runtime_probes_hide(struct runtime_probes *probes, const struct stat *file)
{
	if (probes->go)
		go_programs_hide(probes->go, file);
}

void runtime_probes_forget(struct runtime_probes *probes,
			   bool (*is_used)(const struct stat *file, void *data), void *data)
{
	if (probes->go)
		go_programs_forget(probes->go, is_used, data);
}
