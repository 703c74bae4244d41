// SPDX-License-Identifier: Apache-2.0
/* What answers of receivers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "otlp/answer.h"
#include "otlp/retry.h"

static struct post_answer judge(long status, bool sent, const char *retry_after)
{
	const struct answer answer = {.status = status,
				      .sent = sent,
				      .whole = true,
				      .retry_after = retry_after,
				      .error = "nobody\nis there",
				      .body = (const __u8 *)""};
	struct post_answer judged;

	answer_judge(&answer, 0, &judged);
	return judged;
}

static void by_status(void **state)
{
	static const long later[] = {429, 502, 503, 504};
	static const long refused[] = {300, 301, 307, 400, 401, 403, 404, 408, 413, 500, 501, 505};

	(void)state;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		assert_int_equal(judge(later[i], true, NULL).result, POST_LATER);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(judge(refused[i], true, "5").result, POST_REFUSED);
	assert_int_equal(judge(200, true, NULL).result, POST_ACCEPTED);
	assert_int_equal(judge(202, true, NULL).result, POST_ACCEPTED);
	assert_string_equal(judge(503, true, NULL).why, "HTTP status 503");
}

static void without_an_answer(void **state)
{
	(void)state;
	/* Only what cannot have arrived as a whole is sent again. */
	assert_int_equal(judge(0, false, NULL).result, POST_LATER);
	assert_int_equal(judge(0, true, NULL).result, POST_UNCONFIRMED);
	assert_int_equal(judge(100, true, NULL).result, POST_UNCONFIRMED);
	assert_string_equal(judge(0, true, NULL).why, "nobody\xef\xbf\xbdis there");
}

static void answers_without_an_end(void **state)
{
	/* partial_success: rejected_spans = 3; what came may be all of it, or a part. */
	struct answer answer = {.sent = true,
				.error = "it had to end",
				.body = (const __u8 *)"\x0a\x02\x08\x03",
				.size = 4};
	struct post_answer judged;

	(void)state;
	answer.status = 200;
	answer_judge(&answer, 0, &judged);
	assert_int_equal(judged.result, POST_UNCONFIRMED);
	assert_int_equal(judged.rejected, 0);
	assert_string_equal(judged.why, "HTTP status 200, and no whole answer: it had to end");
	answer.status = 400;
	answer_judge(&answer, 0, &judged);
	assert_int_equal(judged.result, POST_REFUSED);
	answer.status = 503;
	answer_judge(&answer, 0, &judged);
	assert_int_equal(judged.result, POST_LATER);
	assert_int_equal(judge(200, false, NULL).result, POST_UNCONFIRMED);
}

static void waits_that_are_asked_for(void **state)
{
	(void)state;
	assert_int_equal(judge(503, true, "3").retry_after_ms, 3000);
	assert_int_equal(judge(503, true, NULL).retry_after_ms, RETRY_NEVER);
	assert_int_equal(judge(503, true, "whenever").retry_after_ms, RETRY_NEVER);
}

static struct post_answer judge_body(const char *body, size_t size)
{
	const struct answer answer = {
	    .status = 200, .sent = true, .whole = true, .body = (const __u8 *)body, .size = size};
	struct post_answer judged;

	answer_judge(&answer, 0, &judged);
	return judged;
}

static void partial_success(void **state)
{
	/* partial_success (1): rejected_spans (1) = 3, error_message (2) = "no\n" */
	static const char some[] = "\x0a\x07\x08\x03\x12\x03no\n";
	static const char negative[] = "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	struct post_answer judged = judge_body(some, sizeof(some) - 1);

	(void)state;
	assert_int_equal(judged.result, POST_ACCEPTED);
	assert_int_equal(judged.rejected, 3);
	assert_string_equal(judged.why, "no\xef\xbf\xbd");
	assert_int_equal(judge_body(negative, sizeof(negative) - 1).rejected, 0);
	assert_int_equal(judge_body("", 0).rejected, 0);
}

static void garbage_is_no_partial_success(void **state)
{
	static const char *const bodies[] = {"<html>", "{}", "\xff\xff\xff\xff", "\x0a\x7f\x08"};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct post_answer judged = judge_body(bodies[i], strlen(bodies[i]));

		assert_int_equal(judged.result, POST_ACCEPTED);
		assert_int_equal(judged.rejected, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_status),
	    cmocka_unit_test(without_an_answer),
	    cmocka_unit_test(answers_without_an_end),
	    cmocka_unit_test(waits_that_are_asked_for),
	    cmocka_unit_test(partial_success),
	    cmocka_unit_test(garbage_is_no_partial_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
