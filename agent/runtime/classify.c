// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "runtime/classify.h"
#include "runtime/dotnet.h"
#include "runtime/elf_image.h"
#include "runtime/haproxy.h"
#include "runtime/java.h"
#include "runtime/library.h"
#include "runtime/node.h"
#include "runtime/python.h"
#include "runtime/ruby.h"
#include "runtime/tokio.h"

#define WANTED (PYTHON_WANTED + RUBY_WANTED + NODE_WANTED + DOTNET_WANTED + JAVA_WANTED)
_Static_assert(WANTED < SUBJECT_FILES_MAX, "each has room, and the program");

/* `why` is set where something of it is not known. */
struct look {
	const struct subject *subject;
	struct elf_image *image; /* of the program */
	struct classified *found;
	enum why why;
};

static size_t add_wanted(struct subject_wanted *all, size_t count,
			 const struct subject_wanted *some, size_t more)
{
	memcpy(all + count, some, more * sizeof(*some));
	return count + more;
}

int classify_open(__u32 tgid, struct subject *ret_subject)
{
	struct subject_wanted all[WANTED];
	size_t count = add_wanted(all, 0, python_wanted, PYTHON_WANTED);

	count = add_wanted(all, count, ruby_wanted, RUBY_WANTED);
	count = add_wanted(all, count, node_wanted, NODE_WANTED);
	count = add_wanted(all, count, dotnet_wanted, DOTNET_WANTED);
	count = add_wanted(all, count, java_wanted, JAVA_WANTED);
	return subject_open(tgid, all, count, ret_subject);
}

/* Addresses in the file become addresses in the process. */
static int take_go(const struct subject *subject, const struct golang *golang,
		   struct classified *found)
{
	__u64 bias;
	int err = library_program_bias(subject, golang->entry, &bias);

	if (err)
		return err;
	found->golang = *golang;
	found->runtime = golang->runtime;
	found->sites = golang->sites;
	found->minor = golang->minor;
	golang_relocate(&found->runtime.go, bias);
	return 0;
}

static int look_at_go(struct look *look)
{
	struct golang golang;
	int err = golang_inspect(look->image, &golang, &look->why);

	if (!err)
		return take_go(look->subject, &golang, look->found);
	if (err == -ENOTSUP) {
		look->found->runtime.kind = RUNTIME_OPAQUE;
		look->found->language = LANGUAGE_GO;
	}
	return err;
}

/* Is it Python? Where it cannot be followed, its threads can. */
static int look_at_python(struct look *look)
{
	struct python python;
	int err = python_inspect(look->subject, look->image, &python, &look->why);

	if (!err) {
		look->found->runtime = python.runtime;
		look->found->sites = python.sites;
		look->found->minor = python.minor;
	}
	if (err != -ENOENT)
		look->found->language = LANGUAGE_PYTHON;
	return err;
}

static int look_at_ruby(struct look *look)
{
	struct ruby ruby;
	int err = ruby_inspect(look->subject, look->image, &ruby, &look->why);

	if (!err) {
		look->found->runtime = ruby.runtime;
		look->found->sites = ruby.sites;
		look->found->major = ruby.major;
		look->found->minor = ruby.minor;
	}
	if (err != -ENOENT)
		look->found->language = LANGUAGE_RUBY;
	return err;
}

static int look_at_haproxy(struct look *look)
{
	struct haproxy haproxy;
	__u64 bias;
	int err = haproxy_inspect(look->image, &haproxy);

	if (!err)
		err = library_program_bias(look->subject, haproxy.entry, &bias);
	if (err)
		return err;
	look->found->runtime = haproxy.runtime;
	look->found->sites = haproxy.sites;
	haproxy_relocate(&look->found->runtime, bias);
	return 0;
}

static int look_at_node(struct look *look)
{
	struct node node;
	int err = node_inspect(look->subject, look->image, &node);

	if (err)
		return err;
	look->found->runtime = node.runtime;
	look->found->sites = node.sites;
	return 0;
}

static int look_at_dotnet(struct look *look)
{
	int err = dotnet_inspect(look->subject, look->image);

	if (err)
		return err;
	look->found->runtime.kind = RUNTIME_OPAQUE;
	look->found->language = LANGUAGE_DOTNET;
	look->why = WHY_DOTNET;
	return 0;
}

static int look_at_java(struct look *look)
{
	struct runtime runtime;
	int err = java_inspect(look->subject, &runtime, &look->why);

	if (!err || err == -ENOTSUP)
		look->found->runtime = runtime;
	if (err != -ENOENT)
		look->found->language = LANGUAGE_JAVA;
	return err;
}

/* Others may have been written in Rust, too: so it is asked for last. */
static int look_at_tokio(struct look *look)
{
	int err = tokio_inspect(look->image);

	if (!err)
		look->found->runtime.kind = RUNTIME_TOKIO;
	return err;
}

/* In this order; each says -ENOENT where it is another one. */
static int (*const looks_at[])(struct look *look) = {
    look_at_go,   look_at_python, look_at_haproxy, look_at_ruby,
    look_at_node, look_at_dotnet, look_at_java,    look_at_tokio,
};

/* What cannot be read may run anything. */
static int not_readable(struct look *look)
{
	look->found->runtime.kind = RUNTIME_OPAQUE;
	look->why = WHY_FORMAT;
	return 0;
}

static int look_into(struct look *look)
{
	int err = elf_image_open(look->subject->file[SUBJECT_PROGRAM].fd, &look->image);

	if (err)
		return err == -ENOEXEC ? not_readable(look) : err;
	look->found->runtime.kind = RUNTIME_THREADS;
	err = -ENOENT;
	for (size_t i = 0; err == -ENOENT && i < sizeof(looks_at) / sizeof(looks_at[0]); i++) {
		look->why = WHY_NONE;
		err = looks_at[i](look);
	}
	elf_image_close(look->image);
	if (err == -ENOENT)
		look->why = WHY_NONE;
	return err == -ENOENT || err == -ENOTSUP ? 0 : err;
}

/* What runs it is known, but not what it is like: then nothing is known of its calls. */
static void replaced(struct classified *found)
{
	*found = (struct classified){
	    .runtime = {.kind = RUNTIME_OPAQUE}, .language = found->language, .why = WHY_REPLACED};
}

int classify(const struct subject *subject, classify_known known, void *data,
	     struct classified *ret_classified)
{
	struct look look = {.subject = subject, .found = ret_classified};
	const struct golang *golang = known(&subject->file[SUBJECT_PROGRAM].stat, data);
	int err;

	*ret_classified = (struct classified){};
	err = golang ? take_go(subject, golang, ret_classified) : look_into(&look);
	ret_classified->why = look.why;
	if (err != -ESTALE)
		return err;
	replaced(ret_classified);
	return 0;
}

static bool is_right(const struct subject *subject, const struct probe_sites *sites)
{
	if (sites->count > PROBE_SITES_MAX)
		return false;
	for (__u32 i = 0; i < sites->count; i++) {
		const struct probe_site *site = &sites->site[i];

		if (site->file >= subject->file_count || subject->file[site->file].fd < 0 ||
		    !subject_file_runs(&subject->file[site->file], site->offset))
			return false;
	}
	return true;
}

int classify_check(const struct subject *subject, const struct classified *classified)
{
	__u32 kind = classified->runtime.kind;

	if (kind < RUNTIME_THREADS || kind >= RUNTIMES || classified->language >= LANGUAGES ||
	    classified->why >= WHYS)
		return -EBADMSG;
	return is_right(subject, &classified->sites) && is_right(subject, &classified->golang.sites)
		   ? 0
		   : -EBADMSG;
}
