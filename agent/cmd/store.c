// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cmd/store.h"
#include "cmd/talk.h"
#include "trace/store.h"

#define WHY_MAX (PATH_MAX + 512)

/* Where the store is that commands read: where the daemon says, or else in the usual place. */
struct store_file {
	char path[PATH_MAX]; /* empty: there is none that can be read here */
	/*
	 * Then the reason; else, if the daemon did not tell the path, why it did not, which is
	 * shown if nothing is found there. Empty: the daemon told it.
	 */
	char why[WHY_MAX];
	bool is_guess; /* a daemon runs, but did not tell the path: it may be another one */
};

const char *command_store_named;

/* Why the daemon does not tell where its store is. */
static const char *silence(int err, const struct policy_error *error)
{
	if (err == -EOPNOTSUPP)
		return "this ctxpropd is an older version that does not tell where its store is";
	return err == -EPERM ? "only root may ask ctxpropd where its store is" : error->text;
}

static void take_usual(int err, const struct policy_error *error, struct store_file *ret)
{
	text_copy(ret->path, sizeof(ret->path), STORE_PATH);
	snprintf(ret->why, sizeof(ret->why), "%s", silence(err, error));
	ret->is_guess = err == -EOPNOTSUPP || err == -ETIMEDOUT;
}

/* Is the file at this path, if any, another one than the daemon's? */
static bool is_elsewhere(const struct control_store *told)
{
	struct stat status;

	if (!told->inode)
		return false;
	if (stat(told->path, &status))
		return errno == ENOENT || errno == ENOTDIR;
	return status.st_dev != told->device || status.st_ino != told->inode;
}

static void refuse_elsewhere(const struct control_store *told, pid_t pid, struct store_file *ret)
{
	char process[32] = "";

	/* A process of another pid namespace has no number here. */
	if (pid)
		snprintf(process, sizeof(process), " (process %d)", pid);
	snprintf(
	    ret->why, sizeof(ret->why),
	    "ctxpropd%s has its store at %s in a mount namespace of its own, a file that is not "
	    "there in this one; run the command where ctxpropd runs, or name the file as it is "
	    "called here by --store",
	    process, told->path);
}

/* Ask the daemon that attends this network namespace. Complains of nothing. */
static void find_store(struct store_file *ret)
{
	struct policy_error error = {};
	struct control_store told;
	pid_t pid = 0;
	int err = talk_find_store(&told, &pid, &error);

	*ret = (struct store_file){};
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

/* Ask the daemon only once, so that a command reads the same store throughout. */
static const struct store_file *store_file(void)
{
	static struct store_file found;
	static bool is_found;

	if (is_found)
		return &found;
	find_store(&found);
	is_found = true;
	if (found.is_guess)
		fprintf(stderr, "ctxprop: %s; the store is taken to be %s\n", found.why,
			found.path);
	return &found;
}

const char *command_store_path(void)
{
	if (command_store_named)
		return command_store_named;
	return *store_file()->path ? store_file()->path : NULL;
}

const struct option_row command_store_options[] = {COMMAND_STORE_OPTION, {}};

int command_refuse_path(void)
{
	return command_refuse("%s", store_file()->why);
}

sqlite3 *command_open_store(void)
{
	const char *path = command_store_path();
	char why[128];
	sqlite3 *db = path ? store_open_to_read(path, why, sizeof(why)) : NULL;

	if (db)
		return db;
	if (!path)
		command_refuse_path();
	else if (!command_store_named && *store_file()->why && !store_file()->is_guess)
		command_refuse("the store %s cannot be read: %s; and %s", path, why,
			       store_file()->why);
	else
		command_refuse("the store %s cannot be read: %s", path, why);
	return NULL;
}

sqlite3 *command_try_store(void)
{
	const char *path = command_store_path();
	char why[128];

	return path ? store_open_to_read(path, why, sizeof(why)) : NULL;
}

int command_refuse_store(sqlite3 *db)
{
	return command_refuse("the store %s: %s", command_store_path(), sqlite3_errmsg(db));
}
