// SPDX-License-Identifier: Apache-2.0
/* URLs of receivers, and the file with header fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "otlp/endpoint.h"
#include "otlp/headers.h"

static void check(const char *url, bool is_base, const char *wanted, const char *shown)
{
	struct endpoint endpoint;

	if (endpoint_parse(url, is_base, &endpoint))
		fail_msg("%s is refused", url);
	assert_string_equal(endpoint.url, wanted);
	assert_string_equal(endpoint.shown, shown);
	endpoint_free(&endpoint);
}

static void urls(void **state)
{
	static const char traces[] = "http://127.0.0.1:4318/v1/traces";

	(void)state;
	check("http://127.0.0.1:4318", false, traces, traces);
	check("http://127.0.0.1:4318/", false, traces, traces);
	check("http://127.0.0.1:4318/v1/traces", false, traces, traces);
	check("http://h/in/", false, "http://h/in/", "http://h/in/");
	check("http://127.0.0.1:4318", true, traces, traces);
	check("http://h/in/", true, "http://h/in/v1/traces", "http://h/in/v1/traces");
	check("https://u:p@[fd00::1]:443", false, "https://u:p@[fd00::1]:443/v1/traces",
	      "https://[fd00::1]:443/v1/traces");
}

static void check_logs(const char *url, bool is_base, const char *wanted)
{
	struct endpoint endpoint;

	assert_int_equal(endpoint_parse_logs(url, is_base, &endpoint), wanted ? 0 : -ENOENT);
	if (!wanted)
		return;
	assert_string_equal(endpoint.url, wanted);
	endpoint_free(&endpoint);
}

/* Where log records go, by the URL for spans. */
static void urls_of_logs(void **state)
{
	(void)state;
	check_logs("http://h:4318", false, "http://h:4318/v1/logs");
	check_logs("http://h:4318/", false, "http://h:4318/v1/logs");
	check_logs("http://h/v1/traces", false, "http://h/v1/logs");
	check_logs("http://h/in/v1/traces/", false, "http://h/in/v1/logs");
	check_logs("http://h/in/", true, "http://h/in/v1/logs");
	check_logs("http://h/v1/traces", true, "http://h/v1/traces/v1/logs");
	check_logs("http://h/in", false, NULL);
	check_logs("http://h/xv1/traces", false, NULL);
}

static void no_urls(void **state)
{
	static const char *const texts[] = {"",           "localhost:4318", "127.0.0.1:4318",
					    "/v1/traces", "ftp://h/",       "file:///etc/passwd",
					    "http://",    "http://a b/",    "http://h:70000/"};
	struct endpoint endpoint;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (endpoint_parse(texts[i], false, &endpoint) != -EINVAL)
			fail_msg("%s is taken", texts[i]);
}

/* What reading a file with this text and mode says; `ret_count`: fields. */
static int read_text(const char *text, mode_t mode, size_t *ret_count, char *ret_why, size_t size)
{
	char path[] = "/tmp/ctxprop-headers-XXXXXX";
	struct curl_slist *list = NULL;
	int fd = mkstemp(path), err;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	err = headers_read(path, &list, ret_why, size);
	unlink(path);
	*ret_count = 0;
	for (const struct curl_slist *field = list; field; field = field->next)
		(*ret_count)++;
	curl_slist_free_all(list);
	return err;
}

static void fields(void **state)
{
	char why[128] = "";
	size_t count;

	(void)state;
	assert_int_equal(read_text("# keys\n\nX-Key: a b\r\nauthorization:Bearer x", 0640, &count,
				   why, sizeof(why)),
			 0);
	assert_int_equal(count, 2);
	assert_int_equal(read_text("X-Key: a\n", 0644, &count, why, sizeof(why)), -EPERM);
	assert_int_equal(count, 0);
}

static void no_fields(void **state)
{
	static const char *const lines[] = {"X-Key\n",  ": a\n",       "X Key: a\n",
					    "X-Key:\n", "X-Key: \a\n", "X-Key: secret\rX: b\n"};
	char why[128];
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (read_text(lines[i], 0600, &count, why, sizeof(why)) != -EBADMSG)
			fail_msg("line %zu is taken", i);
		assert_string_equal(why, "line 1: expected Name: value");
	}
	assert_int_equal(headers_read("/proc/self", NULL, why, sizeof(why)), -EINVAL);
	assert_int_equal(headers_read("/nonexistent", NULL, why, sizeof(why)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(urls),   cmocka_unit_test(urls_of_logs), cmocka_unit_test(no_urls),
	    cmocka_unit_test(fields), cmocka_unit_test(no_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
