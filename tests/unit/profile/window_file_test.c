// SPDX-License-Identifier: Apache-2.0
/* A window has its name when it is whole; one process has the folder. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "profile/keep/window_file.h"

static const struct window window = {1000, 1060};
static struct window_folder folder = {.fd = -1};
static char path[192];

static int make_folder(void **state)
{
	static char root[] = "/tmp/ctxprop-window-XXXXXX";
	char name[WINDOW_NAME_MAX];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(folder.path, sizeof(folder.path), "%s/profiles", root);
	window_name(&window, name);
	snprintf(path, sizeof(path), "%.64s/%s", folder.path, name);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	window_folder_close(&folder);
	rmdir(folder.path);
	*strrchr(folder.path, '/') = '\0';
	return rmdir(folder.path); /* fails if anything else was left in it */
}

static void taken(void **state)
{
	struct window_folder other = {.fd = -1};
	struct stat status;

	(void)state;
	memcpy(other.path, folder.path, sizeof(other.path));
	assert_int_equal(window_folder_take(&folder), 0);
	assert_int_equal(stat(folder.path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(window_folder_take(&other), -EBUSY);
	assert_int_equal(other.fd, -1);
	window_folder_close(&folder);
	assert_int_equal(window_folder_take(&other), 0);
	window_folder_close(&other);
	assert_int_equal(window_folder_take(&folder), 0);
}

/* It is made again, and is ours again; a file in its place is none. */
static void taken_again(void **state)
{
	const int fd = folder.fd;
	struct window_folder other = {.fd = -1};

	(void)state;
	assert_int_equal(window_folder_take(&folder), 0);
	assert_int_equal(folder.fd, fd);
	assert_int_equal(rmdir(folder.path), 0);
	assert_int_equal(close(creat(folder.path, 0600)), 0);
	assert_int_equal(window_folder_take(&folder), -ENOTDIR);
	assert_int_equal(unlink(folder.path), 0);
	assert_int_equal(window_folder_take(&folder), 0);
	memcpy(other.path, folder.path, sizeof(other.path));
	assert_int_equal(window_folder_take(&other), -EBUSY);
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

static int write_window(const struct window_folder *into, beside_fill_fn fill, const char *text,
			size_t *ret_removed)
{
	return window_file_write(into, &window, fill, text, ret_removed);
}

static void replaced(void **state)
{
	static const struct window_folder nowhere = {.path = "/nowhere", .fd = -1};
	char first[] = "first", second[] = "second", half[] = "half";
	size_t removed = 1;

	(void)state;
	assert_int_equal(write_window(&folder, write_text, first, &removed), 0);
	assert_content(first);
	assert_int_equal(removed, 0);
	assert_int_equal(write_window(&folder, write_half, half, &removed), -ENOMEM);
	assert_content(first);
	assert_int_equal(write_window(&folder, write_text, second, &removed), 0);
	assert_content(second);
	assert_int_equal(write_window(&nowhere, write_text, first, &removed), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(taken),
	    cmocka_unit_test(taken_again),
	    cmocka_unit_test(replaced),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
