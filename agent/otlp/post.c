// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <curl/curl.h>

#include "base/clock.h"
#include "base/unsampled.h"
#include "base/version.h"
#include "otlp/answer.h"
#include "otlp/headers.h"
#include "otlp/post.h"

#define ANSWER_MAX    65536 /* nothing that has to be read is longer */
#define CONNECT_MS    5000
#define IDLE_SECONDS  4L /* servers end connections that are idle for longer */
#define NS_PER_MS     1000000ULL
#define POLL_MS       1000
#define UNTIL_FOREVER UINT64_MAX

struct post {
	CURLM *multi;
	CURL *easy;
	struct curl_slist *fields;
	char *traceparent; /* the one among the fields */
	char error[CURL_ERROR_SIZE];
	atomic_ullong deadline_ns;
	const __u8 *body; /* of the request that is being sent */
	size_t size, given;
	__u8 answer[ANSWER_MAX];
	size_t answered;
};

/*
 * No function to rewind beside this one: without it libcurl never sends anything twice on its own,
 * as it does when a connection that was kept ends without an answer.
 */
static size_t give_body(char *buffer, size_t size, size_t count, void *data)
{
	struct post *post = data;
	size_t left = post->size - post->given, n = size * count < left ? size * count : left;

	memcpy(buffer, post->body + post->given, n);
	post->given += n;
	return n;
}

/* What is longer than any answer is cut off, with the connection. */
static size_t take_answer(char *bytes, size_t size, size_t count, void *data)
{
	struct post *post = data;
	size_t length = size * count;

	if (length > sizeof(post->answer) - post->answered)
		return 0;
	memcpy(post->answer + post->answered, bytes, length);
	post->answered += length;
	return length;
}

static int add_field(struct post *post, const char *line)
{
	struct curl_slist *longer = curl_slist_append(post->fields, line);

	if (!longer)
		return -ENOMEM;
	post->fields = longer;
	return 0;
}

static int set_fields(struct post *post, const char *file, char *ret_why, size_t size)
{
	static const char *const fields[] = {"Content-Type: application/x-protobuf",
					     "Content-Encoding: gzip", "Expect:"};
	char traceparent[UNSAMPLED_SIZE];
	int err = file ? headers_read(file, &post->fields, ret_why, size) : 0;

	for (size_t i = 0; !err && i < sizeof(fields) / sizeof(fields[0]); i++)
		err = add_field(post, fields[i]);
	unsampled_draw(traceparent);
	if (!err)
		err = add_field(post, traceparent);
	if (err)
		return err;
	for (struct curl_slist *field = post->fields; field; field = field->next)
		post->traceparent = field->data;
	return 0;
}

static void set_options(struct post *post, const struct post_options *options)
{
	CURL *easy = post->easy;

	curl_easy_setopt(easy, CURLOPT_URL, options->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
	curl_easy_setopt(easy, CURLOPT_READDATA, post);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, post);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, post->error);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, post->fields);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "ctxprop/" CTXPROP_VERSION);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)POST_TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a name that nobody knows is no delay */
	if (options->ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca);
}

int post_new(const struct post_options *options, struct post **ret_post, char *ret_why, size_t size)
{
	struct post *post = calloc(1, sizeof(*post));
	int err = -ENOMEM;

	snprintf(ret_why, size, "%s", strerror(ENOMEM));
	if (post) {
		atomic_init(&post->deadline_ns, UNTIL_FOREVER);
		post->multi = curl_multi_init();
		post->easy = curl_easy_init();
	}
	if (post && post->multi && post->easy)
		err = set_fields(post, options->headers, ret_why, size);
	if (err) {
		post_free(post);
		return err;
	}
	set_options(post, options);
	*ret_post = post;
	return 0;
}

void post_free(struct post *post)
{
	if (!post)
		return;
	curl_easy_cleanup(post->easy);
	curl_multi_cleanup(post->multi);
	curl_slist_free_all(post->fields);
	free(post);
}

/* The milliseconds until the deadline; 0: it has come. */
static int left_ms(struct post *post)
{
	__u64 deadline_ns = atomic_load(&post->deadline_ns), now_ns = clock_now_ns();

	if (deadline_ns <= now_ns)
		return 0;
	return deadline_ns - now_ns > POLL_MS * NS_PER_MS
		   ? POLL_MS
		   : (int)((deadline_ns - now_ns) / NS_PER_MS) + 1;
}

/*
 * Wait until the answer is there, the time is over, or it is no longer wanted. Returns whether an
 * answer has begun.
 */
static bool transfer(struct post *post)
{
	bool begun = false;
	int running = 1, ms;

	while (running && (ms = left_ms(post)) > 0) {
		if (curl_multi_perform(post->multi, &running) != CURLM_OK)
			break;
		begun = true;
		if (running)
			curl_multi_poll(post->multi, NULL, 0, ms, NULL);
	}
	return begun;
}

/* Did the transfer end well? And what libcurl says about its end. */
static bool outcome(struct post *post, const char **ret_error)
{
	int left;
	const CURLMsg *message = curl_multi_info_read(post->multi, &left);

	*ret_error = "it had to end";
	if (!message)
		return false;
	*ret_error = *post->error ? post->error : curl_easy_strerror(message->data.result);
	return message->data.result == CURLE_OK;
}

/* If this answer has not begun, libcurl returns values of the answer before. */
static void judge(struct post *post, bool begun, struct post_answer *ret_answer)
{
	struct answer answer = {
	    .body = post->answer, .size = post->answered, .sent = post->given == post->size};
	struct curl_header *field;

	answer.whole = outcome(post, &answer.error);
	if (begun)
		curl_easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &answer.status);
	if (answer.status >= 200 &&
	    curl_easy_header(post->easy, "Retry-After", 0, CURLH_HEADER, -1, &field) == CURLHE_OK)
		answer.retry_after = field->value;
	answer_judge(&answer, time(NULL), ret_answer);
}

void post_send(struct post *post, const __u8 *body, size_t size, struct post_answer *ret_answer)
{
	post->body = body;
	post->size = size;
	post->given = post->answered = 0;
	*post->error = '\0';
	unsampled_draw(post->traceparent); /* new ids each time */
	curl_easy_setopt(post->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_multi_add_handle(post->multi, post->easy);
	judge(post, transfer(post), ret_answer);
	curl_multi_remove_handle(post->multi, post->easy);
}

bool post_is_over(struct post *post)
{
	return !left_ms(post);
}

void post_end_by(struct post *post, __u64 deadline_ns)
{
	atomic_store(&post->deadline_ns, deadline_ns);
	curl_multi_wakeup(post->multi);
}
