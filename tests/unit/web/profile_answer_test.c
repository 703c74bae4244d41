// SPDX-License-Identifier: Apache-2.0
/* Answers of windows that are whole, and of such as are made to hurt, by the process that makes
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile/made_folder.h"
#include "../profile/made_message.h"
#include "base/gzip.h"
#include "web/profile_process.h"

#define NOW 1700000000LL
#define MIB (1UL << 20)

static FILE *create(__s64 from_s)
{
	return made_folder_create(made_folder_window(from_s, from_s + 60));
}

/* A window of ten samples. */
static void put(__s64 from_s)
{
	struct message message = made_message(1000000, false);
	FILE *out = create(from_s);

	made_sample(&message, "main;<work>", "endpoint=GET /a;service=shop", 10, 0);
	assert_int_equal(message_write(&message, out), 0);
	fclose(out);
	message_free(&message);
}

static void put_bytes(__s64 from_s, const void *bytes, size_t size)
{
	FILE *out = create(from_s);

	assert_int_equal(fwrite(bytes, 1, size, out), size);
	fclose(out);
}

/* A window of this message. */
static void put_packed(__s64 from_s, const void *plain, size_t size)
{
	size_t packed_size;
	__u8 *packed;

	assert_int_equal(gzip(plain, size, &packed, &packed_size), 0);
	put_bytes(from_s, packed, packed_size);
	free(packed);
}

struct asking {
	struct profile_question question;
	struct profile_answer *answer;
	int err;
};

/* As the server's threads do. */
static void *ask_in_thread(void *data)
{
	void *volatile memory = malloc(1); /* from now on the thread has an arena */
	struct asking *asking = data;

	free(memory);
	asking->err = profile_process_ask(&asking->question, &asking->answer);
	return NULL;
}

/* 0 or -errno, as profile_process_ask() returns it. */
static int ask(const char *in, bool is_picture, struct profile_answer **ret)
{
	struct asking asking = {
	    .question = {.from_s = NOW, .to_s = NOW + 600, .is_picture = is_picture}};
	pthread_t thread;

	snprintf(asking.question.folder, sizeof(asking.question.folder), "%s", in);
	assert_int_equal(pthread_create(&thread, NULL, ask_in_thread, &asking), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	*ret = asking.answer;
	return asking.err;
}

static void assert_says(struct profile_answer *answer, unsigned int status, const char *wanted)
{
	if (answer->status != status || !memmem(answer->text, answer->size, wanted, strlen(wanted)))
		fail_msg("%u: %.*s", answer->status, (int)answer->size, answer->text);
	profile_process_free(answer);
}

static void assert_answer(bool is_picture, unsigned int status, const char *wanted)
{
	struct profile_answer *answer;

	assert_int_equal(ask(made_folder, is_picture, &answer), 0);
	assert_says(answer, status, wanted);
}

/* The same, but on a slow machine it may be more than there is time for. */
static void assert_answer_or_late(unsigned int status, const char *wanted)
{
	struct profile_answer *answer;
	int err = ask(made_folder, false, &answer);

	if (err)
		assert_int_equal(err, -ETIME);
	else
		assert_says(answer, status, wanted);
}

static void whole(void **state)
{
	(void)state;
	put(NOW);
	put(NOW + 60);
	assert_answer(false, 200, "\"samples\":20,\"cpu_ns\":20000000");
	assert_answer(false, 200, "\"endpoint\":\"GET /a\"");
	assert_answer(true, 200, "CPU time, 22:13:20 to 22:15:20 UTC");
	assert_answer(true, 200, "<title>&lt;work&gt; (20.000 ms, 100.00%)");
}

static void none(void **state)
{
	struct profile_answer *answer;

	(void)state;
	assert_int_equal(ask("/tmp/ctxprop-answers/none", false, &answer), 0);
	assert_string_equal(answer->text, "{\"kept\":false,\"windows\":0,\"unreadable\":0,"
					  "\"left_out\":0,\"endpoints\":[]}");
	profile_process_free(answer);
	put(NOW - 600);
	assert_answer(false, 200, "{\"kept\":true,\"windows\":0,");
	assert_answer(true, 404, "there is no profile of that time");
}

static void no_gzip(void **state)
{
	(void)state;
	put_bytes(NOW, "\x1f\x8b\x08\x00", 4);
	assert_answer(false, 500, "1700000000-1700000060.pb.gz: it is not a gzip file");
	assert_answer(true, 500, "it is not a gzip file");
	put(NOW + 60);
	assert_answer(false, 200, "\"windows\":1,\"unreadable\":1,");
}

/* Little that becomes much. */
static void a_bomb(void **state)
{
	const size_t size = 257 * MIB;
	void *zeros = calloc(1, size);

	(void)state;
	assert_non_null(zeros);
	put_packed(NOW, zeros, size);
	free(zeros);
	assert_answer_or_late(500, "it is larger than 256 MiB");
	put(NOW + 60);
	assert_answer_or_late(200, "\"windows\":1,\"unreadable\":1,");
}

/* Texts and messages that say that they are longer than all that is there. */
static void absurd_lengths(void **state)
{
	static const char text[] = "\x32\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
			  sample[] = "\x12\xff\xff\xff\xff\x0f",
			  packed[] = "\x12\x04\x0a\x7f\x01\x01";

	(void)state;
	put_packed(NOW, text, sizeof(text) - 1);
	put_packed(NOW + 60, sample, sizeof(sample) - 1);
	put_packed(NOW + 120, packed, sizeof(packed) - 1);
	assert_answer(false, 500, "it is not a pprof profile");
	put(NOW + 180);
	assert_answer(false, 200, "\"windows\":1,\"unreadable\":3,");
}

/* Samples of two bytes, each of which takes a hundred when it was read: there is no room. */
static void many_parts(void **state)
{
	const size_t size = 40 * MIB;
	__u8 *plain = malloc(size);

	(void)state;
	assert_non_null(plain);
	for (size_t i = 0; i < size; i += 2)
		memcpy(plain + i, "\x12\x00", 2);
	put_packed(NOW, plain, size);
	free(plain);
	assert_answer_or_late(500, "it needs too much memory");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(whole, made_folder_empty),
	    cmocka_unit_test_teardown(none, made_folder_empty),
	    cmocka_unit_test_teardown(no_gzip, made_folder_empty),
	    cmocka_unit_test_teardown(a_bomb, made_folder_empty),
	    cmocka_unit_test_teardown(absurd_lengths, made_folder_empty),
	    cmocka_unit_test_teardown(many_parts, made_folder_empty),
	};

	return cmocka_run_group_tests(tests, made_folder_begin, made_folder_end);
}
