// SPDX-License-Identifier: Apache-2.0
/* When unix sockets are looked for: who looks has other things to do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "load/node.h"
#include "runtime/processes.h"
#include "runtime/unix_names.h"
#include "runtime/unix_sockets.h"

#define MS (NS_PER_SECOND / 1000)

static __u64 now_ns, look_ns; /* the clock; how long a look takes */
static int looks, attaches;   /* so often */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = (struct timespec){.tv_sec = (time_t)(now_ns / NS_PER_SECOND),
				     .tv_nsec = (long)(now_ns % NS_PER_SECOND)};
	return 0;
}

void processes_each(int map_fd, void (*visit)(__u32 tgid, void *data), void *data)
{
	(void)map_fd;
	(void)visit;
	(void)data;
	looks++;
	now_ns += look_ns;
}

bool unix_names_near(__u32 tgid)
{
	return tgid;
}

int node_attach_waiting(__u32 flags)
{
	(void)flags;
	attaches++;
	return mock_type(int);
}

static void begin(struct unix_sockets *sockets, __u64 takes_ns)
{
	now_ns = NS_PER_SECOND;
	looks = attaches = 0;
	look_ns = takes_ns;
	will_return(node_attach_waiting, 0);
	assert_int_equal(unix_sockets_open(-1, sockets), 0);
	assert_int_equal(looks, 1);
}

static void each_second(void **state)
{
	struct unix_sockets sockets;

	(void)state;
	begin(&sockets, 0);
	now_ns += NS_PER_SECOND - MS;
	assert_int_equal(unix_sockets_do(&sockets), 0);
	assert_int_equal(looks, 1);
	now_ns += MS;
	will_return(node_attach_waiting, 0);
	assert_int_equal(unix_sockets_do(&sockets), 0);
	assert_int_equal(looks, 2);
}

static void at_once_where_somebody_asks(void **state)
{
	struct unix_sockets sockets;

	(void)state;
	begin(&sockets, 0);
	unix_sockets_ask(&sockets);
	assert_int_equal(unix_sockets_due_ms(&sockets), 0);
	will_return(node_attach_waiting, 1);
	assert_int_equal(unix_sockets_do(&sockets), 1);
	assert_int_equal(unix_sockets_due_ms(&sockets), -1);
}

/* Half a second each: one in ten seconds, whoever asks. */
static void a_twentieth_of_the_time(void **state)
{
	struct unix_sockets sockets;

	(void)state;
	begin(&sockets, NS_PER_SECOND / 2);
	unix_sockets_ask(&sockets);
	now_ns += 9 * NS_PER_SECOND;
	assert_int_equal(unix_sockets_do(&sockets), 0);
	assert_int_equal(looks, 1);
	now_ns += NS_PER_SECOND / 2;
	will_return(node_attach_waiting, 0);
	assert_int_equal(unix_sockets_do(&sockets), 0);
	assert_int_equal(looks, 2);
}

/* The hooks are not loaded yet, or another daemon has the lock. */
static void once_more_where_it_cannot_be_done_yet(void **state)
{
	struct unix_sockets sockets;

	(void)state;
	begin(&sockets, 0);
	unix_sockets_ask(&sockets);
	will_return(node_attach_waiting, -EWOULDBLOCK);
	assert_int_equal(unix_sockets_do(&sockets), 0);
	now_ns += NS_PER_SECOND;
	will_return(node_attach_waiting, 1);
	assert_int_equal(unix_sockets_do(&sockets), 1);
	assert_int_equal(attaches, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_second),
	    cmocka_unit_test(at_once_where_somebody_asks),
	    cmocka_unit_test(a_twentieth_of_the_time),
	    cmocka_unit_test(once_more_where_it_cannot_be_done_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
