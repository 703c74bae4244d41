// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cmd/store_place.h"
#include "cmd/talk.h"
#include "trace/store.h"

/* Why the daemon does not tell where its store is. */
static const char *silence(int err, const struct policy_error *error)
{
	if (err == -EOPNOTSUPP)
		return "this ctxpropd is an older version that does not tell where its store is";
	return err == -EPERM ? "only root may ask ctxpropd where its store is" : error->text;
}

static void take_usual(int err, const struct policy_error *error, struct store_place *ret)
{
	text_copy(ret->path, sizeof(ret->path), STORE_PATH);
	snprintf(ret->why, sizeof(ret->why), "%s", silence(err, error));
	ret->is_guess = err == -EOPNOTSUPP || err == -ETIMEDOUT;
}

/* Is what the path leads to here another file than the daemon's, or none? */
static bool is_elsewhere(const struct control_store *told)
{
	struct stat status;

	if (!told->inode)
		return false;
	if (stat(told->path, &status))
		return errno == ENOENT || errno == ENOTDIR;
	return status.st_dev != told->device || status.st_ino != told->inode;
}

static void refuse_elsewhere(const struct control_store *told, pid_t pid, struct store_place *ret)
{
	char process[32] = "";

	/* One of another process namespace has no number here. */
	if (pid)
		snprintf(process, sizeof(process), " (process %d)", pid);
	snprintf(
	    ret->why, sizeof(ret->why),
	    "ctxpropd%s has its store at %s in a mount namespace of its own, a file that is not "
	    "there in this one; run the command where ctxpropd runs, or name the file as it is "
	    "called here by --store",
	    process, told->path);
}

void store_place_find(struct store_place *ret)
{
	struct policy_error error = {};
	struct control_store told;
	pid_t pid = 0;
	int err = talk_find_store(&told, &pid, &error);

	*ret = (struct store_place){};
	if (err)
		take_usual(err, &error, ret);
	else if (!*told.path)
		snprintf(ret->why, sizeof(ret->why),
			 "ctxpropd stores nothing (--store none); another store can be named by "
			 "--store");
	else if (is_elsewhere(&told))
		refuse_elsewhere(&told, pid, ret);
	else
		text_copy(ret->path, sizeof(ret->path), told.path);
}
