// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime/inspector.h"

/* What the sandbox says first; the subject follows if there is one, and then what was found. */
struct preface {
	int err;
	bool refused_before;
};

/* What the work in a sandbox is about. */
struct order {
	const struct inspector *inspector;
	__u32 tgid;
};

static struct inspector_refused key_of(const struct subject *subject)
{
	struct inspector_refused key;

	memset(&key, 0, sizeof(key)); /* it is compared with its gaps */
	for (__u32 i = 0; i < subject->file_count; i++) {
		const struct stat *file = &subject->file[i].stat;

		if (subject->file[i].memory) {
			key.tgid = subject->tgid;
			key.started = subject->started;
		}
		key.file[i].device = file->st_dev;
		key.file[i].inode = file->st_ino;
		key.file[i].size = file->st_size;
		key.file[i].changed = file->st_ctim;
	}
	return key;
}

static bool is_refused(const struct inspector *inspector, const struct inspector_refused *key)
{
	for (unsigned int i = 0; i < inspector->refused_count && i < INSPECTOR_REFUSED_MAX; i++)
		if (!memcmp(&inspector->refused[i], key, sizeof(*key)))
			return true;
	return false;
}

static void refuse(struct inspector *inspector, const struct inspector_refused *key)
{
	inspector->refused[inspector->refused_count++ % INSPECTOR_REFUSED_MAX] = *key;
}

static int say(int socket, const void *what, size_t size)
{
	return send(socket, what, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

/* In the sandbox, with its rights given up. */
static int look(int socket, const struct order *order, const struct subject *subject)
{
	struct classified found;
	int err = classify(subject, order->inspector->known, order->inspector->data, &found);

	return err ? err : say(socket, &found, sizeof(found));
}

static int inspect(int socket, void *data)
{
	const struct order *order = data;
	struct subject subject;
	struct inspector_refused key;
	struct preface preface = {.err = classify_open(order->tgid, &subject)};
	int err;

	if (!preface.err) {
		key = key_of(&subject);
		preface.refused_before = is_refused(order->inspector, &key);
	}
	err = say(socket, &preface, sizeof(preface));
	if (err || preface.err)
		return err;
	err = subject_send(socket, &subject);
	if (err || preface.refused_before)
		return err;
	err = sandbox_confine();
	return err ? err : look(socket, order, &subject);
}

int inspector_open(classify_known known, void *data, struct inspector *ret_inspector)
{
	*ret_inspector = (struct inspector){
	    .known = known, .data = data, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
	return ret_inspector->epoll_fd < 0 ? -errno : 0;
}

void inspector_close(struct inspector *inspector)
{
	for (int i = 0; i < INSPECTOR_SIDE_BY_SIDE; i++)
		if (inspector->run[i].tgid)
			sandbox_close(&inspector->run[i].sandbox);
	cleanup_close(&inspector->epoll_fd);
}

int inspector_fd(const struct inspector *inspector)
{
	return inspector->epoll_fd;
}

static int find_free(const struct inspector *inspector)
{
	for (int i = 0; i < INSPECTOR_SIDE_BY_SIDE; i++)
		if (!inspector->run[i].tgid)
			return i;
	return -1;
}

bool inspector_has_room(const struct inspector *inspector)
{
	return find_free(inspector) >= 0;
}

bool inspector_runs(const struct inspector *inspector)
{
	for (int i = 0; i < INSPECTOR_SIDE_BY_SIDE; i++)
		if (inspector->run[i].tgid)
			return true;
	return false;
}

int inspector_start(struct inspector *inspector, __u32 tgid)
{
	struct order order = {.inspector = inspector, .tgid = tgid};
	struct inspector_run *run = &inspector->run[find_free(inspector)];
	struct epoll_event ended = {.events = EPOLLIN};
	struct unreadable_process process;
	int err;

	if (!unreadable_identify(tgid, &process) &&
	    unreadable_is(&inspector->unreadable, &process, clock_now_ns()))
		return -EAGAIN;
	err = sandbox_start(inspect, &order, &run->sandbox);
	if (!err && epoll_ctl(inspector->epoll_fd, EPOLL_CTL_ADD, run->sandbox.pidfd, &ended))
		err = -errno;
	if (err)
		sandbox_close(&run->sandbox);
	else
		run->tgid = tgid;
	return err;
}

/* One message of exactly this size. */
static int hear(int socket, void *to, size_t size)
{
	ssize_t got = recv(socket, to, size, MSG_DONTWAIT | MSG_TRUNC);

	return got == (ssize_t)size ? 0 : -EBADMSG;
}

static enum why why_of(enum sandbox_end end)
{
	switch (end) {
	case SANDBOX_TOO_LONG:
	case SANDBOX_KILLED:
		return WHY_TOO_LONG;
	case SANDBOX_CRASHED:
	case SANDBOX_FORBIDDEN:
		return WHY_CRASHED;
	default:
		return WHY_DAMAGED;
	}
}

/* Nothing is known of what the process does. */
static void fail(struct inspection *inspection, enum why why)
{
	inspection->found = (struct classified){.runtime = {.kind = RUNTIME_OPAQUE}, .why = why};
}

/* What was found, if all of it came and is possible. 0 or -errno. */
static int hear_found(int socket, struct inspection *inspection)
{
	int err = hear(socket, &inspection->found, sizeof(inspection->found));

	return err ? err : classify_check(&inspection->subject, &inspection->found);
}

static void hear_all(struct inspector *inspector, int socket, enum sandbox_end end,
		     struct inspection *inspection)
{
	struct inspector_refused key;
	struct preface preface;

	inspection->err = hear(socket, &preface, sizeof(preface)) ? -EIO : preface.err;
	if (!inspection->err)
		inspection->err = subject_receive(socket, &inspection->subject);
	if (inspection->err)
		return;
	inspection->refused_before = preface.refused_before;
	if (!preface.refused_before && end == SANDBOX_DONE && !hear_found(socket, inspection))
		return;
	fail(inspection, why_of(end));
	if (preface.refused_before || end == SANDBOX_KILLED)
		return;
	inspection->failed = true;
	key = key_of(&inspection->subject);
	refuse(inspector, &key);
}

/* Nothing waited for it, so it is not counted as time spent in vain. */
static void leave_alone(struct inspector *inspector, __u32 tgid)
{
	struct unreadable_process process;

	if (!unreadable_identify(tgid, &process))
		unreadable_mark(&inspector->unreadable, &process, 0, clock_now_ns());
}

bool inspector_take(struct inspector *inspector, struct inspection *ret_inspection)
{
	for (int i = 0; i < INSPECTOR_SIDE_BY_SIDE; i++) {
		struct inspector_run *run = &inspector->run[i];
		enum sandbox_end end = run->tgid ? sandbox_look(&run->sandbox) : SANDBOX_RUNS;

		if (end == SANDBOX_RUNS)
			continue;
		if (end == SANDBOX_KILLED)
			leave_alone(inspector, run->tgid);
		*ret_inspection = (struct inspection){.tgid = run->tgid, .subject = SUBJECT_NONE};
		hear_all(inspector, run->sandbox.socket, end, ret_inspection);
		sandbox_close(&run->sandbox);
		run->tgid = 0;
		return true;
	}
	return false;
}

int inspector_due_ms(const struct inspector *inspector)
{
	return inspector_runs(inspector) ? SANDBOX_LOOK_MS : -1;
}
