// SPDX-License-Identifier: Apache-2.0
/* A window has its name when it is whole; one process has the folder. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "profile/window_file.h"

static const struct window window = {1000, 1060};
static char folder[64], path[128];

static int make_folder(void **state)
{
	static char root[] = "/tmp/ctxprop-window-XXXXXX";
	char name[WINDOW_NAME_MAX];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(folder, sizeof(folder), "%s/profiles", root);
	window_name(&window, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	*strrchr(folder, '/') = '\0';
	return rmdir(folder); /* fails if anything else was left in it */
}

static void taken(void **state)
{
	int fd = window_folder_take(folder);
	struct stat status;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(stat(folder, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(window_folder_take(folder), -EBUSY);
	close(fd);
	fd = window_folder_take(folder);
	assert_true(fd >= 0);
	close(fd);
}

static int write_text(const void *data, FILE *out)
{
	return fputs(data, out) < 0 ? -EIO : 0;
}

static int write_half(const void *data, FILE *out)
{
	fputs(data, out);
	return -ENOMEM;
}

static void assert_content(const char *wanted)
{
	char text[32] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_string_equal(text, wanted);
	fclose(file);
}

static void replaced(void **state)
{
	char first[] = "first", second[] = "second", half[] = "half";

	(void)state;
	assert_int_equal(window_file_write(folder, &window, write_text, first), 0);
	assert_content(first);
	assert_int_equal(window_file_write(folder, &window, write_half, half), -ENOMEM);
	assert_content(first);
	assert_int_equal(window_file_write(folder, &window, write_text, second), 0);
	assert_content(second);
	assert_int_equal(window_file_write("/nowhere", &window, write_text, first), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(taken),
	    cmocka_unit_test(replaced),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
