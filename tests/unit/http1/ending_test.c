// SPDX-License-Identifier: Apache-2.0
/* Heads without a body, whose end needs no step of its own (http1_end_bodiless()). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "http/http1/framing.h"

static struct http1 http;
static struct protocol_window window;
static uint32_t len, at;

/* The next event of the window, lines and values left out. */
static enum protocol_event next(void)
{
	struct protocol_step step;

	do {
		uint32_t line = PROTOCOL_NOWHERE;

		step = http1_scan(&http, &window, at, len, &line);
		at = step.next;
	} while ((step.event == PROTOCOL_NONE || step.event == PROTOCOL_VALUE) && at < len);
	return step.event;
}

/* Up to where the first head of a stream has ended, and what can be passed over is. */
static void end_head(const char *stream)
{
	len = (uint32_t)strlen(stream);
	at = 0;
	memset(&window, 0, sizeof(window));
	memcpy(window.byte, stream, len);
	http1_init(&http, PROTOCOL_REQUEST);
	assert_int_equal(next(), PROTOCOL_BLANK);
	assert_int_equal(next(), PROTOCOL_HEAD);
	http1_end_bodiless(&http);
}

static void nothing_is_to_come(void **state)
{
	(void)state;
	end_head("GET / HTTP/1.1\r\nA: b\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
	assert_false(http1_pending(&http));
	assert_int_equal(next(), PROTOCOL_BLANK);
	assert_int_equal(next(), PROTOCOL_HEAD);
	assert_int_equal(at, len);
	end_head("POST / HTTP/1.1\nContent-Length: 0\n\nGET / HTTP/1.1\n\n");
	assert_false(http1_pending(&http));
	assert_int_equal(next(), PROTOCOL_BLANK);
}

static void a_body_is_to_come(void **state)
{
	(void)state;
	end_head("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345GET / HTTP/1.1\r\n\r\n");
	assert_int_equal(http1_skippable(&http), 5);
	assert_int_equal(next(), PROTOCOL_END);
	assert_int_equal(next(), PROTOCOL_BLANK);
	end_head("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
	assert_true(http1_in_body(&http));
	assert_int_equal(next(), PROTOCOL_END);
}

static void a_tunnel_stays_the_last_message(void **state)
{
	(void)state;
	end_head("CONNECT a:1 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
	assert_true(http1_pending(&http));
	assert_int_equal(next(), PROTOCOL_STOP);
	assert_int_equal(http.stop, HTTP1_STOP_CONNECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_to_come),
	    cmocka_unit_test(a_body_is_to_come),
	    cmocka_unit_test(a_tunnel_stays_the_last_message),
	};

	return cmocka_run_group_tests_name("ends of messages", tests, NULL, NULL);
}
