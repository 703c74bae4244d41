// SPDX-License-Identifier: Apache-2.0
#include "cmd/store.h"
#include "trace/store.h"

static const char *store_path = STORE_PATH;

void command_set_store(const char *path)
{
	store_path = path;
}

const char *command_store_path(void)
{
	return store_path;
}

static int set_option(int letter, const char *word)
{
	(void)letter;
	command_set_store(word);
	return COMMAND_OK;
}

static const struct option only[] = {COMMAND_STORE_OPTION};

const struct command_options command_store_options = {
    .list = only, .count = 1, .letters = "", .set = set_option};

sqlite3 *command_open_store(void)
{
	char why[128];
	sqlite3 *db = store_open_to_read(store_path, why, sizeof(why));

	if (!db)
		command_refuse("the store %s cannot be read: %s; does ctxpropd run, and with which "
			       "--store?",
			       store_path, why);
	return db;
}

sqlite3 *command_try_store(void)
{
	char why[128];

	return store_open_to_read(store_path, why, sizeof(why));
}

int command_refuse_store(sqlite3 *db)
{
	return command_refuse("the store %s: %s", store_path, sqlite3_errmsg(db));
}
