// SPDX-License-Identifier: Apache-2.0
/* The host of a head, cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "image.h"
#include "policy_host.h"

#define LINE  "GET / HTTP/1.1\r\n"
#define LONG  "abcdefghijklmnopqrstuvwxyz0123456789."
#define WHOLE LONG LONG LONG "abcdefghijklmnop" /* of 127 bytes */

static const struct {
	const char *head;
	const char *name; /* NULL: it cannot be told */
	__u32 domains;
} cases[] = {
    {LINE "Host: a\r\n", "a", 0},
    {LINE "Accept: */*\r\nhOsT:\t WWW.Example.COM:8080 \r\nX: y\r\n", "www.example.com", 2},
    {"GET / HTTP/1.1\nhost: a.b\n", "a.b", 1},
    {LINE, "", 0},
    {LINE "X: y\r\n", "", 0},
    {LINE "X: Host: a\r\nHos: a\r\nHosts: a\r\nXHost: a\r\n", "", 0},
    {LINE "Host:\r\n", "", 0},
    {LINE "Host: 1.2.3.4.5.6.7.8.9.10:1\r\n", "1.2.3.4.5.6.7.8.9.10", POLICY_DOMAINS_MAX},
    {LINE "Host: [::1]:80\r\n", "[::1]", 0},
    {LINE "Host: " WHOLE "\r\n", WHOLE, 3},
    /* Two fields; they may even say the same. */
    {LINE "Host: a\r\nHost: b\r\n", NULL, 0},
    {LINE "Host: a\r\nX: y\r\nhost: a\r\n", NULL, 0},
    {LINE "Host: a\r\nhost: b\r\nhost: c\r\n", NULL, 0},
    /* What servers differ in. */
    {LINE "Host: a b\r\n", NULL, 0},
    {LINE "Host: a\t,b\r\n", NULL, 0},
    {LINE "Host: a:80x\r\n", NULL, 0},
    {LINE "Host: a:80 b\r\n", NULL, 0},
    {LINE "Host: user@a\r\n", NULL, 0},
    {LINE "Host: a:b@c\r\n", NULL, 0},
    {LINE "Host: " WHOLE "q\r\n", NULL, 0},
    /* Not all of the lines. */
    {LINE "Host: a", NULL, 0},
    {"GET /", NULL, 0},
    /* The absolute form (RFC 9112, 3.2.2). */
    {"GET http://a.b HTTP/1.1\r\nHost: c\r\n", "a.b", 1},
    {"GET http://A.b:80/Host:x HTTP/1.1\r\n", "a.b", 1},
    {"GET HTTPS://a?http://c HTTP/1.1\r\nHost: c d\r\n", "a", 0},
    {"GET http://user@a#x HTTP/1.1\r\nHost: c\r\n", "a", 0},
    {"GET http://user:80@a:80 HTTP/1.1\r\nHost: c\r\n", "a", 0},
    {"GET http://[::1]:80/ HTTP/1.1\r\nHost: c\r\n", "[::1]", 0},
    {"GET http:/// HTTP/1.1\r\nHost: c\r\n", "", 0},
    {"GET http://a HTTP/1.1\r\nHost: a\r\nHost: a\r\n", NULL, 0},
    {"GET http://" WHOLE "q HTTP/1.1\r\nHost: a\r\n", NULL, 0},
    /* And what only looks like it. */
    {"GET /http://b HTTP/1.1\r\nHost: a\r\n", "a", 0},
    {"GET /?http://b HTTP/1.1\r\nHost: a\r\n", "a", 0},
    {"GET ://b HTTP/1.1\r\nHost: a\r\n", "a", 0},
    {"GET a:b//c HTTP/1.1\r\nHost: a\r\n", "a", 0},
    {"OPTIONS * HTTP/1.1\r\nHost: a\r\n", "a", 0},
};

/* Read a head in pieces that end at the two cuts. */
static struct policy_host read_cut(const char *head, __u32 first, __u32 second)
{
	__u32 ends[] = {first, second, (__u32)strlen(head)}, i = 0;
	struct protocol_window window = {};
	struct policy_host h = {};

	strcpy((char *)window.byte, head);
	for (int n = 0; n < 3; n++)
		while (i < ends[n])
			policy_host_read(&h, &window, &i, ends[n]);
	return h;
}

static void check(size_t i, __u32 first, __u32 second)
{
	struct policy_host h = read_cut(cases[i].head, first, second);
	struct policy_labels labels;

	if (policy_host_is_clear(&h) != !!cases[i].name)
		fail_msg("cut at %u and %u: %s", first, second, cases[i].head);
	if (!cases[i].name)
		return;
	assert_int_equal(h.len, strlen(cases[i].name));
	assert_memory_equal(h.name, cases[i].name, h.len);
	policy_labels_begin(&labels, &h);
	while (!policy_labels_take(&labels, &h))
		;
	assert_int_equal(labels.domains, cases[i].domains);
}

static void test_host(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (__u32 second = 0; second <= strlen(cases[i].head); second++)
			for (__u32 first = 0; first <= second; first++)
				check(i, first, second);
}

/* The dot of the root domain is none of the name. */
static void test_root_dot(void **state)
{
	struct policy_host with = read_cut(LINE "Host: a.b.:80\r\n", 0, 0),
			   without = read_cut(LINE "Host: a.b\r\n", 0, 0);
	struct policy_labels one, other;

	(void)state;
	policy_labels_begin(&one, &with);
	policy_labels_begin(&other, &without);
	while (!policy_labels_take(&one, &with))
		;
	while (!policy_labels_take(&other, &without))
		;
	assert_int_equal(one.hash, other.hash);
	assert_int_equal(one.domains, other.domains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_host),
	    cmocka_unit_test(test_root_dot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
