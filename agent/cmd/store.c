// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>

#include "cmd/store.h"
#include "cmd/store_place.h"
#include "trace/store.h"

const char *command_store_named;

/* Ask the daemon only once, so that a command reads the same store throughout. */
static const struct store_place *place(void)
{
	static struct store_place found;
	static bool is_found;

	if (is_found)
		return &found;
	store_place_find(&found);
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
	return *place()->path ? place()->path : NULL;
}

const struct option_row command_store_options[] = {COMMAND_STORE_OPTION, {}};

int command_refuse_path(void)
{
	return command_refuse("%s", place()->why);
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
	else if (!command_store_named && *place()->why && !place()->is_guess)
		command_refuse("the store %s cannot be read: %s; and %s", path, why, place()->why);
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
