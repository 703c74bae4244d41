// SPDX-License-Identifier: Apache-2.0
/* Which lines of /proc/net/unix tell of something that programs may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/unix_names.h"

#define LISTENS   "00010000 0001 01"
#define CONNECTED "00000000 0001 03"

#define LINE(socket, name) "0000000000000000: 00000002 00000000 " socket " 26259368" name "\n"

static void streams_with_names_match(void **state)
{
	(void)state;
	assert_true(unix_names_match(LINE(LISTENS, " /run/php/php-fpm.sock")));
	assert_true(unix_names_match(LINE(CONNECTED, " /var/run/postgresql/.s.PGSQL.5432")));
	assert_true(unix_names_match(LINE(LISTENS, " @abstract")));
	assert_true(unix_names_match(LINE(LISTENS, " a b")));
}

static void what_nobody_can_ask_does_not(void **state)
{
	(void)state;
	assert_false(unix_names_match("Num       RefCount Protocol Flags    Type St Inode Path\n"));
	assert_false(unix_names_match(LINE(CONNECTED, "")));
	assert_false(unix_names_match(LINE("00000000 0001 01", " /bound/only")));
	assert_false(unix_names_match(LINE("00000000 0002 01", " /dgram")));
	assert_false(unix_names_match(LINE("00010000 0005 01", " /seqpacket")));
	assert_false(unix_names_match(""));
}

static void services_of_the_system_do_not(void **state)
{
	(void)state;
	assert_false(unix_names_match(LINE(LISTENS, " /run/systemd/journal/stdout")));
	assert_false(unix_names_match(LINE(CONNECTED, " /run/dbus/system_bus_socket")));
	assert_false(unix_names_match(LINE(LISTENS, " /var/run/dbus/system_bus_socket")));
	assert_false(unix_names_match(LINE(LISTENS, " /run/docker.sock")));
	assert_true(unix_names_match(LINE(LISTENS, " /run/systemd.sock")));
	assert_true(unix_names_match(LINE(LISTENS, " @/run/systemd/x")));
	assert_true(unix_names_match(LINE(LISTENS, " /srv/run/dbus/x")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(streams_with_names_match),
	    cmocka_unit_test(what_nobody_can_ask_does_not),
	    cmocka_unit_test(services_of_the_system_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
