// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "inspect/unreadable.h"

#define TEXT_MAX    4096
#define FIELD_START 22 /* number of the field: proc_pid_stat(5) */

/* These files come from the kernel itself, so reading them never blocks for long. 0 or -errno. */
static int read_text(__u32 tgid, const char *name, char text[TEXT_MAX])
{
	char path[32];
	_cleanup_close_ int fd = -1;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
	if (size < 0)
		return -errno;
	text[size] = '\0';
	return 0;
}

/* The name of the program, the second field, may have blanks and parentheses in it. */
static int read_started(__u32 tgid, __u64 *ret_started)
{
	char text[TEXT_MAX];
	const char *at;
	int err = read_text(tgid, "stat", text);

	if (err)
		return err;
	at = strrchr(text, ')');
	for (int field = 2; at && field < FIELD_START; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EINVAL;
	*ret_started = strtoull(at + 1, NULL, 10);
	return 0;
}

/* Not the owner of /proc/PID, which is root's if the process wants that. */
static int read_uid(__u32 tgid, __u32 *ret_uid)
{
	static const char key[] = "\nUid:\t";
	char text[TEXT_MAX];
	const char *at;
	int err = read_text(tgid, "status", text);

	if (err)
		return err;
	at = strstr(text, key);
	if (!at)
		return -EINVAL;
	*ret_uid = (__u32)strtoul(at + strlen(key), NULL, 10);
	return 0;
}

int unreadable_identify(__u32 tgid, struct unreadable_process *ret_process)
{
	int err = read_started(tgid, &ret_process->started);

	ret_process->tgid = tgid;
	return err ? err : read_uid(tgid, &ret_process->uid);
}

static bool is_same(const struct unreadable_process *a, const struct unreadable_process *b)
{
	return a->tgid == b->tgid && a->started == b->started;
}

/* What is not made up for yet: a part of the time that goes by makes up for it. */
static __u64 lost_now_ns(const struct unreadable *unreadable, __u64 now_ns)
{
	const __u64 made_up_ns = (now_ns - unreadable->counted_ns) / 100 * UNREADABLE_PER_CENT;

	return unreadable->lost_ns > made_up_ns ? unreadable->lost_ns - made_up_ns : 0;
}

bool unreadable_is(const struct unreadable *unreadable, const struct unreadable_process *process,
		   __u64 now_ns)
{
	unsigned int of_user = 0;

	if (lost_now_ns(unreadable, now_ns) > UNREADABLE_CREDIT_MS * (NS_PER_SECOND / 1000))
		return true;
	for (size_t i = 0; i < UNREADABLE_MAX; i++) {
		const struct unreadable_mark *mark = &unreadable->mark[i];

		if (!mark->times || now_ns >= mark->end_ns)
			continue;
		if (is_same(&mark->process, process))
			return true;
		of_user += process->uid && mark->process.uid == process->uid;
	}
	return of_user >= UNREADABLE_OF_USER;
}

/* That of the process, or in its place a new one. */
static struct unreadable_mark *find(struct unreadable *unreadable,
				    const struct unreadable_process *process)
{
	struct unreadable_mark *first = &unreadable->mark[0];

	for (size_t i = 0; i < UNREADABLE_MAX; i++) {
		struct unreadable_mark *mark = &unreadable->mark[i];

		if (mark->times && is_same(&mark->process, process))
			return mark;
		if (mark->end_ns < first->end_ns)
			first = mark;
	}
	*first = (struct unreadable_mark){.process = *process};
	return first;
}

void unreadable_mark(struct unreadable *unreadable, const struct unreadable_process *process,
		     __u64 waited_ns, __u64 now_ns)
{
	struct unreadable_mark *mark = find(unreadable, process);

	mark->end_ns = now_ns + ((__u64)UNREADABLE_PAUSE_S << mark->times) * NS_PER_SECOND;
	if (mark->times < UNREADABLE_DOUBLED)
		mark->times++;
	unreadable->lost_ns = lost_now_ns(unreadable, now_ns) + waited_ns;
	unreadable->counted_ns = now_ns;
}
