// SPDX-License-Identifier: Apache-2.0
/* Files of a continuous profile, in a folder of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "made_folder.h"
#include "made_message.h"

#define NOW 1700000000LL

/* A window with so many samples of one function. */
static void put_function(__s64 from_s, __s64 to_s, int64_t count, const char *function)
{
	struct message message = made_message(10, false);
	FILE *out = made_folder_create(made_folder_window(from_s, to_s));

	made_sample(&message, function, "endpoint=GET /a", count, 0);
	assert_int_equal(message_write(&message, out), 0);
	fclose(out);
	message_free(&message);
}

static void put(__s64 from_s, __s64 to_s, int64_t count)
{
	put_function(from_s, to_s, count, "main");
}

static void put_bytes(const char *file, off_t bytes)
{
	FILE *out = made_folder_create(file);

	assert_int_equal(ftruncate(fileno(out), bytes), 0);
	fclose(out);
}

static bool is_there(const char *file)
{
	return !access(file, F_OK);
}

static int64_t count_samples(struct message *message)
{
	int64_t count = 0;

	for (size_t i = 0; i < message->profile->n_sample; i++)
		count += message->profile->sample[i]->value[0];
	message_free(message);
	return count;
}

/* How many samples are in what is read of a time; -errno. */
static int64_t read_samples(__s64 from_s, __s64 to_s, struct windows_said *ret_said)
{
	char why[MESSAGE_WHY_MAX];
	struct message message;
	int err = windows_read(made_folder, from_s, to_s, &message, ret_said, why);

	assert_true(!err || *why);
	return err ? err : count_samples(&message);
}

static void names(void **state)
{
	static const char *const others[] = {"",
					     "1-2",
					     "1-2.pb",
					     "1-2.pb.gz.x",
					     " 1-2.pb.gz",
					     "+1-2.pb.gz",
					     "01-2.pb.gz",
					     "-1-2.pb.gz",
					     "2-1.pb.gz",
					     "1--2.pb.gz",
					     "1-2-3.pb.gz",
					     "x.pb.gz",
					     "1-.pb.gz",
					     "-0-2.pb.gz",
					     "99999999999999999999-99999999999999999999.pb.gz"};
	const struct window window = {NOW, NOW + 60};
	char name[WINDOW_NAME_MAX];
	struct window found;

	(void)state;
	window_name(&window, name);
	assert_string_equal(name, "1700000000-1700000060.pb.gz");
	assert_int_equal(window_parse(name, &found), 0);
	assert_true(found.from_s == window.from_s && found.to_s == window.to_s);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(window_parse(others[i], &found), -EINVAL);
}

static void folders(void **state)
{
	static char store[PATH_MAX + 8];
	char found[PATH_MAX];

	(void)state;
	assert_int_equal(windows_folder("/var/lib/ctxprop/ctxprop.db", found), 0);
	assert_string_equal(found, "/var/lib/ctxprop/profiles");
	assert_int_equal(windows_folder("my.db", found), 0);
	assert_string_equal(found, "profiles");
	assert_int_equal(windows_folder("/my.db", found), 0);
	assert_string_equal(found, "/profiles");
	memset(store, 'x', sizeof(store) - 1);
	store[PATH_MAX - 8] = '/';
	assert_int_equal(windows_folder(store, found), -ENAMETOOLONG);
	store[PATH_MAX - 8] = 'x';
	store[PATH_MAX + 4] = '/';
	assert_int_equal(windows_folder(store, found), -ENAMETOOLONG);
}

static void reads_a_time(void **state)
{
	struct windows_said said;

	(void)state;
	put(NOW, NOW + 60, 1);
	put(NOW + 60, NOW + 120, 10);
	put(NOW + 120, NOW + 180, 100);
	assert_int_equal(read_samples(NOW, NOW + 180, &said), 111);
	assert_int_equal(said.count, 3);
	assert_true(said.time.from_s == NOW && said.time.to_s == NOW + 180);
	assert_int_equal(read_samples(NOW + 60, NOW + 120, &said), 10);
	assert_int_equal(read_samples(NOW + 59, NOW + 121, &said), 111);
	assert_int_equal(read_samples(NOW + 119, NOW + 1000, &said), 110);
	assert_true(said.time.from_s == NOW + 60 && said.time.to_s == NOW + 180);
	assert_int_equal(read_samples(NOW + 180, NOW + 1000, &said), -ENOENT);
	assert_int_equal(said.count, 0);
}

/* What is broken is named and counted, and the rest is read. */
static void leaves_broken_ones_out(void **state)
{
	struct windows_said said;
	FILE *out;

	(void)state;
	put(NOW, NOW + 60, 5);
	put_bytes(made_folder_window(NOW + 60, NOW + 120), 100);
	out = made_folder_create(made_folder_window(NOW + 120, NOW + 180));
	fputs("\x1f\x8b\x08 no profile", out);
	fclose(out);
	assert_int_equal(mkdir(made_folder_window(NOW + 180, NOW + 240), 0700), 0);
	assert_int_equal(mkfifo(made_folder_window(NOW + 240, NOW + 300), 0600), 0);
	assert_int_equal(symlink("nowhere", made_folder_window(NOW + 300, NOW + 360)), 0);
	assert_int_equal(read_samples(NOW, NOW + 999, &said), 5);
	assert_int_equal(said.count, 1);
	assert_int_equal(said.unreadable, 2);
	assert_string_equal(said.unreadable_name, "1700000120-1700000180.pb.gz");
	assert_string_equal(said.unreadable_why, "it is not a gzip file, or cut off");
	assert_int_equal(read_samples(NOW + 60, NOW + 999, &said), -EINVAL);
	assert_int_equal(said.unreadable, 2);
	assert_int_equal(rmdir(made_folder_window(NOW + 180, NOW + 240)), 0);
}

/* How many samples are in what was opened; -errno. */
static int64_t read_opened(struct windows_opened *opened, struct windows_said *ret_said)
{
	char why[MESSAGE_WHY_MAX];
	struct message message;
	int err = windows_read_opened(opened, &message, ret_said, why);

	windows_close(opened);
	return err ? err : count_samples(&message);
}

/* What was opened is read, whatever has the name by then. */
static void reads_what_was_opened(void **state)
{
	struct windows_opened opened;
	struct windows_said said;

	(void)state;
	put(NOW, NOW + 60, 1);
	put(NOW + 60, NOW + 120, 10);
	windows_open(made_folder, NOW, NOW + 180, &opened);
	assert_int_equal(opened.count, 2);
	assert_int_equal(unlink(made_folder_window(NOW, NOW + 60)), 0);
	assert_int_equal(unlink(made_folder_window(NOW + 60, NOW + 120)), 0);
	put(NOW + 60, NOW + 120, 100);
	assert_int_equal(read_opened(&opened, &said), 11);
	assert_true(said.time.from_s == NOW && said.time.to_s == NOW + 120);
	assert_int_equal(said.unreadable, 0);
}

/* What becomes shorter, or something else, is broken. */
static void sees_what_has_changed(void **state)
{
	struct windows_opened opened;
	struct windows_said said;

	(void)state;
	put(NOW, NOW + 60, 1);
	put(NOW + 60, NOW + 120, 10);
	windows_open(made_folder, NOW, NOW + 180, &opened);
	assert_int_equal(truncate(made_folder_window(NOW, NOW + 60), 20), 0);
	assert_int_equal(read_opened(&opened, &said), 10);
	assert_int_equal(said.unreadable, 1);
	assert_string_equal(said.unreadable_why, "it is not a gzip file, or cut off");
}

/* Of more than can be open the newest ones are read. */
static void opens_so_many(void **state)
{
	struct windows_opened opened;
	struct windows_said said;
	struct rlimit before, few;
	int64_t samples;

	(void)state;
	for (__s64 i = 0; i < 20; i++)
		put(NOW + 60 * i, NOW + 60 * (i + 1), 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){16, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	windows_open(made_folder, NOW, NOW + 1200, &opened);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_in_range(opened.count, 5, 15);
	samples = read_opened(&opened, &said);
	assert_int_equal(samples, said.count);
	assert_int_equal(said.count + said.left_out, 20);
	assert_true(said.time.to_s == NOW + 1200);
}

/* Of more than there is memory for the newest ones are read. */
static void leaves_old_ones_out(void **state)
{
	const size_t size = 130UL << 20;
	char *name = malloc(size + 1);
	struct windows_said said;

	(void)state;
	assert_non_null(name);
	name[size] = '\0';
	put(NOW, NOW + 60, 1);
	memset(name, 'a', size);
	put_function(NOW + 60, NOW + 120, 10, name);
	memset(name, 'b', size);
	put_function(NOW + 120, NOW + 180, 100, name);
	free(name);
	assert_int_equal(read_samples(NOW, NOW + 180, &said), 110);
	assert_int_equal(said.count, 2);
	assert_int_equal(said.left_out, 1);
	assert_true(said.time.from_s == NOW + 60);
}

static void says_what_is_missing(void **state)
{
	char why[MESSAGE_WHY_MAX];
	struct windows_said said;
	struct message message;

	(void)state;
	assert_int_equal(windows_read(made_folder_file("none"), 0, NOW, &message, &said, why),
			 -ENOENT);
	assert_non_null(strstr(why, "without --profile"));
	assert_int_equal(windows_read(made_folder, 0, NOW, &message, &said, why), -ENOENT);
	assert_non_null(strstr(why, "no windows of this time"));
	put_bytes(made_folder_file("file"), 0);
	assert_int_equal(windows_read(made_folder_file("file"), 0, NOW, &message, &said, why),
			 -ENOTDIR);
	assert_string_equal(why, strerror(ENOTDIR));
}

static void tidies_by_age(void **state)
{
	const __s64 old = NOW - WINDOWS_SECONDS;

	(void)state;
	put(old - 61, old - 1, 1);
	put(old - 60, old, 1);
	put(NOW - 60, NOW, 1);
	put(NOW + WINDOWS_SECONDS + 1, NOW + WINDOWS_SECONDS + 61, 1);
	put_bytes(made_folder_file("others"), 10);
	assert_int_equal(windows_tidy(made_folder, NOW), 0);
	assert_false(is_there(made_folder_window(old - 61, old - 1)));
	assert_true(is_there(made_folder_window(old - 60, old)));
	assert_true(is_there(made_folder_window(NOW - 60, NOW)));
	assert_false(
	    is_there(made_folder_window(NOW + WINDOWS_SECONDS + 1, NOW + WINDOWS_SECONDS + 61)));
	assert_true(is_there(made_folder_file("others")));
}

/* The oldest go first, whatever their size is. */
static void tidies_by_size(void **state)
{
	(void)state;
	put_bytes(made_folder_window(NOW - 60, NOW), 10);
	put_bytes(made_folder_window(NOW - 120, NOW - 60), (off_t)WINDOWS_BYTES - 20);
	put_bytes(made_folder_window(NOW - 180, NOW - 120), 10);
	put_bytes(made_folder_window(NOW - 240, NOW - 180), 1);
	put_bytes(made_folder_window(NOW - 300, NOW - 240), 0);
	assert_int_equal(windows_tidy(made_folder, NOW), 0);
	assert_true(is_there(made_folder_window(NOW - 60, NOW)));
	assert_true(is_there(made_folder_window(NOW - 120, NOW - 60)));
	assert_true(is_there(made_folder_window(NOW - 180, NOW - 120)));
	assert_false(is_there(made_folder_window(NOW - 240, NOW - 180)));
	assert_false(is_there(made_folder_window(NOW - 300, NOW - 240)));
}

/* The oldest go, as few as make the room, and never what is not older. */
static void makes_room(void **state)
{
	const struct window window = {NOW - 60, NOW};

	(void)state;
	put_bytes(made_folder_window(NOW - 120, NOW - 60), 100);
	put_bytes(made_folder_window(NOW - 180, NOW - 120), 100);
	put_bytes(made_folder_window(NOW - 240, NOW - 180), 100);
	put_bytes(made_folder_window(NOW - 60, NOW), 100);
	put_bytes(made_folder_window(NOW - 90, NOW - 30), 100);
	put_bytes(made_folder_file("others"), 100);
	assert_int_equal(windows_make_room(made_folder, &window, SIZE_MAX), 0);
	assert_int_equal(windows_make_room(made_folder, &window, 101), 2);
	assert_false(is_there(made_folder_window(NOW - 240, NOW - 180)));
	assert_false(is_there(made_folder_window(NOW - 180, NOW - 120)));
	assert_true(is_there(made_folder_window(NOW - 120, NOW - 60)));
	assert_int_equal(windows_make_room(made_folder, &window, 1000), 1);
	assert_int_equal(windows_make_room(made_folder, &window, 1), 0);
	assert_true(is_there(made_folder_window(NOW - 60, NOW)));
	assert_true(is_there(made_folder_window(NOW - 90, NOW - 30)));
	assert_true(is_there(made_folder_file("others")));
	assert_int_equal(windows_make_room(made_folder_file("none"), &window, 1), 0);
}

/* What did not become whole goes once nobody can be writing it any more. */
static void tidies_what_is_left(void **state)
{
	const __s64 now_s = time(NULL);
	char old[PATH_MAX], fresh[PATH_MAX], other[PATH_MAX];
	struct timespec times[2] = {{now_s - 601, 0}, {now_s - 601, 0}};

	(void)state;
	snprintf(old, sizeof(old), "%.4000s.aB3xYz", made_folder_window(NOW, NOW + 60));
	snprintf(fresh, sizeof(fresh), "%.4000s.aB3xYw", made_folder_window(NOW, NOW + 60));
	snprintf(other, sizeof(other), "%s", made_folder_file("mine.pb.gz.aB3xYz"));
	put_bytes(old, 5);
	put_bytes(fresh, 5);
	put_bytes(other, 5);
	assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
	assert_int_equal(windows_tidy(made_folder, now_s), 0);
	assert_false(is_there(old));
	assert_true(is_there(fresh));
	assert_true(is_there(other));
	assert_int_equal(windows_tidy(made_folder_file("none"), NOW), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names),
	    cmocka_unit_test(folders),
	    cmocka_unit_test_teardown(reads_a_time, made_folder_empty),
	    cmocka_unit_test_teardown(leaves_broken_ones_out, made_folder_empty),
	    cmocka_unit_test_teardown(reads_what_was_opened, made_folder_empty),
	    cmocka_unit_test_teardown(sees_what_has_changed, made_folder_empty),
	    cmocka_unit_test_teardown(opens_so_many, made_folder_empty),
	    cmocka_unit_test_teardown(leaves_old_ones_out, made_folder_empty),
	    cmocka_unit_test_teardown(says_what_is_missing, made_folder_empty),
	    cmocka_unit_test_teardown(tidies_by_age, made_folder_empty),
	    cmocka_unit_test_teardown(tidies_by_size, made_folder_empty),
	    cmocka_unit_test_teardown(makes_room, made_folder_empty),
	    cmocka_unit_test_teardown(tidies_what_is_left, made_folder_empty),
	};

	return cmocka_run_group_tests(tests, made_folder_begin, made_folder_end);
}
