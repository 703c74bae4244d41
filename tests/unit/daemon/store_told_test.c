// SPDX-License-Identifier: Apache-2.0
/* Where the store is, as commands that run in other folders have to know it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "daemon/store_told.h"

static struct store_told told;
static struct control_store now;

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(store_told_begin(&told, NULL), 0);
	store_told_now(&told, &now);
	assert_string_equal(now.path, "");
	assert_int_equal(now.inode, 0);
}

/* A path is taken as it was meant when the daemon began; the file is the one that is there now. */
static void test_relative(void **state)
{
	char folder[] = "/tmp/store-told-XXXXXX", wanted[sizeof(folder) + 8];
	struct stat status;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(store_told_begin(&told, "x.db"), 0);
	assert_int_equal(chdir("/"), 0);
	store_told_now(&told, &now);
	snprintf(wanted, sizeof(wanted), "%s/x.db", folder);
	assert_string_equal(now.path, wanted);
	assert_int_equal(now.inode, 0);
	file = fopen(wanted, "we");
	assert_non_null(file);
	fclose(file);
	store_told_now(&told, &now);
	assert_int_equal(stat(wanted, &status), 0);
	assert_int_equal(now.inode, status.st_ino);
	assert_int_equal(now.device, status.st_dev);
	unlink(wanted);
	rmdir(folder);
}

static void test_absolute(void **state)
{
	char longest[PATH_MAX + 1];

	(void)state;
	assert_int_equal(store_told_begin(&told, "/a/b.db"), 0);
	store_told_now(&told, &now);
	assert_string_equal(now.path, "/a/b.db");
	memset(longest, '/', PATH_MAX);
	longest[PATH_MAX] = '\0';
	assert_int_equal(store_told_begin(&told, longest), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_none),
					   cmocka_unit_test(test_relative),
					   cmocka_unit_test(test_absolute)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
