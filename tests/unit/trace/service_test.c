// SPDX-License-Identifier: Apache-2.0
/* What processes are called, by their environment, their command line and their cgroup. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/service.h"

#define OF(text) text, sizeof(text)

static void names_of_environments(void **state)
{
	char name[SERVICE_NAME_MAX];

	(void)state;
	assert_int_equal(service_name_of_environment(
			     OF("A=b\0OTEL_RESOURCE_ATTRIBUTES=a=b,service.name=one\0X=y"), name),
			 0);
	assert_string_equal(name, "one");
	/* The variable of its own comes before the attribute, wherever it stands. */
	assert_int_equal(
	    service_name_of_environment(
		OF("OTEL_RESOURCE_ATTRIBUTES=service.name=one\0OTEL_SERVICE_NAME=two"), name),
	    0);
	assert_string_equal(name, "two");
	assert_int_equal(
	    service_name_of_environment(OF("OTEL_RESOURCE_ATTRIBUTES= service.name=a b,c=d"), name),
	    0);
	assert_string_equal(name, "a b");
	assert_int_equal(
	    service_name_of_environment(OF("OTEL_SERVICE_NAME=\0OTEL_SERVICE=x"), name), -ENOENT);
	assert_int_equal(service_name_of_environment(OF("XOTEL_SERVICE_NAME=x"), name), -ENOENT);
	assert_int_equal(service_name_of_environment("", 0, name), -ENOENT);
}

static void long_names_are_cut(void **state)
{
	char text[300] = "OTEL_SERVICE_NAME=", name[SERVICE_NAME_MAX];

	(void)state;
	memset(text + strlen(text), 'n', sizeof(text) - 1 - strlen(text));
	assert_int_equal(service_name_of_environment(text, sizeof(text), name), 0);
	assert_int_equal(strlen(name), SERVICE_NAME_MAX - 1);
}

static void command(const char *line, size_t size, const char *wanted)
{
	char name[SERVICE_NAME_MAX];

	assert_int_equal(service_name_of_command(line, size, name), 0);
	assert_string_equal(name, wanted);
}

static void names_of_commands(void **state)
{
	char name[SERVICE_NAME_MAX];

	(void)state;
	command(OF("/usr/sbin/nginx\0-g"), "nginx");
	command(OF("nginx: worker process"), "nginx");
	command(OF("/usr/bin/python3.11\0-u\0/srv/shop/cart.py\0--port\0"
		   "8000"),
		"cart");
	command(OF("python3\0-m\0uvicorn\0app:app"), "uvicorn");
	command(OF("node\0--inspect\0server.js"), "server");
	command(OF("java\0-Xmx1g\0-cp\0/a.jar:/b.jar\0com.example.Main\0x"), "com.example.Main");
	command(OF("java\0-jar\0/srv/orders-1.2.jar"), "orders-1.2");
	command(OF("python3\0-c\0print(1)"), "python3");
	command(OF("./pythonista\0x.py"), "pythonista");
	assert_int_equal(service_name_of_command(OF(""), name), -ENOENT);
	assert_int_equal(service_name_of_command("", 0, name), -ENOENT);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void containers_of_cgroups(void **state)
{
	char id[SERVICE_CONTAINER_MAX];

	(void)state;
	assert_int_equal(service_container_of_cgroup("0::/docker/" ID "\n", id), 0);
	assert_string_equal(id, ID);
	assert_int_equal(
	    service_container_of_cgroup("0::/kubepods.slice/pod1/cri-containerd-" ID ".scope", id),
	    0);
	assert_string_equal(id, ID);
	assert_int_equal(service_container_of_cgroup("0::/x/" ID "0", id), -ENOENT);
	assert_int_equal(service_container_of_cgroup("0::/user.slice", id), -ENOENT);
	assert_int_equal(service_container_of_cgroup("", id), -ENOENT);
}

static void owner(const char *cgroup, const char *container, const char *status, const char *wanted)
{
	const struct service_place place = {cgroup, container, status};
	char owner[SERVICE_OWNER_MAX] = "x";

	service_owner(&place, owner);
	assert_string_equal(owner, wanted);
}

static void owners(void **state)
{
	static const char status[] = "Name:\tshop\nUid:\t33\t0\t0\t0\nGid:\t34\t0\t0\t0\n";

	(void)state;
	owner("/system.slice/shop.service", "", status, "uid 33");
	owner("/system.slice/docker-" ID ".scope", ID, status, ID);
	/* Whoever has a slice can call what is below it as he likes. */
	owner("/user.slice/user-1000.slice/user@1000.service/" ID, ID, status, "uid 1000");
	owner("/x:/user.slice/user-0.slice/a", "", status, "uid 33");
	owner("/user.slice/user-1000.slicex/", ID, status, ID);
	owner("/", "", "Name:\tUid:\nState:\tR\n", "");
	owner("", "", "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_of_environments),
	    cmocka_unit_test(long_names_are_cut),
	    cmocka_unit_test(names_of_commands),
	    cmocka_unit_test(containers_of_cgroups),
	    cmocka_unit_test(owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
