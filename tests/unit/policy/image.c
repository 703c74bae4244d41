// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "image.h"
#include "policy_host.h"

const char *const image_devices[] = {"", "eth0", "eth1", "lo", "gone"};
const char *const image_cgroups[] = {"",    "/",  "/a",     "/a/b", "/a/b/c",
				     "/ab", "/d", "/d/e/f", "/gone"};

static __u64 device_number(const char *name, void *data)
{
	(void)data;
	for (__u32 i = 1; i < IMAGE_DEVICES - 1; i++)
		if (!strcmp(name, image_devices[i]))
			return i * 3;
	return 0;
}

static __u64 cgroup_number(const char *path, void *data)
{
	(void)data;
	for (__u64 i = 1; i < IMAGE_CGROUPS - 1; i++)
		if (!strcmp(path, image_cgroups[i]))
			return i * 1000;
	return 0;
}

const struct policy_names image_names = {.device = device_number, .cgroup = cgroup_number};

/* The ids of a cgroup and of those around it, innermost first. */
static void nest(const char *cgroup, __u64 ids[POLICY_NESTED_MAX])
{
	char path[64];
	int count = 0;

	if (!cgroup[0])
		return;
	strcpy(path, cgroup);
	while (path[1]) {
		__u64 id = cgroup_number(path, NULL);
		char *slash = strrchr(path, '/');

		ids[count++] = id ? id : 77; /* one that no rule can name */
		slash[slash == path] = '\0';
	}
	ids[count] = cgroup_number("/", NULL);
}

/* What a program reads in a head with this host, written in one of many ways and cut anywhere. */
static void read_host(const char *host, __u64 numbers[POLICY_NESTED_MAX])
{
	static const char *const before[] = {"", "Accept: */*\r\n", "X-Host: b\r\nHostess: b\r\n"};
	static const char *const fields[] = {"Host: ", "host:", "HOST: \t "};
	static const char *const behind[] = {"", ":8080", " ", ".", ".:80"};
	char head[PROTOCOL_BUFFER] = {};
	struct policy_labels labels;
	struct policy_host h = {};
	int absolute = host[0] && !draw(4), length;

	if (absolute)
		length = snprintf(head, sizeof(head), "GET %s%s%s/host: HTTP/1.1\r\n%s",
				  draw(2) ? "http://" : "HTTP://host:b@", host, behind[draw(2)],
				  before[draw(3)]);
	else
		length = snprintf(head, sizeof(head), "GET /host: HTTP/1.1\r\n%s", before[draw(3)]);
	if (host[0])
		length += snprintf(head + length, sizeof(head) - (size_t)length, "%s%s%s\r\n",
				   fields[draw(3)], absolute ? "b" : host, behind[draw(5)]);
	if (draw(2))
		length +=
		    snprintf(head + length, sizeof(head) - (size_t)length, "User-Agent: x\r\n");
	for (char *c = draw(2) ? head : ""; *c; c++)
		if (*c == 'b')
			*c = 'B';
	for (__u32 i = 0; i < (__u32)length;) {
		__u32 end = i + 1 + draw((__u32)length - i);

		while (i < end)
			policy_host_read(&h, (const struct protocol_window *)head, &i, end);
	}
	assert_true(policy_host_is_clear(&h));
	policy_labels_begin(&labels, &h);
	while (!policy_labels_take(&labels, &h))
		;
	policy_labels_nested(&labels, numbers);
}

__u32 image_prio(const struct policy_image *image, const struct request *request)
{
	struct policy_query query = {
	    .from = policy_address(request->from),
	    .to = policy_address(request->to),
	    .dir = request->dir,
	    .port = {0, request->port},
	    .device = {0, device_number(request->device, NULL)},
	};
	__u32 rule, hostless;
	int lasting;

	nest(request->cgroup, query.cgroup);
	hostless = policy_match(image, &query, &lasting);
	read_host(request->host, query.host);
	rule = policy_match(image, &query, &lasting);
	/* What lasts does not ask for the host. */
	if (lasting)
		assert_int_equal(rule, hostless);
	return rule == POLICY_NONE ? POLICY_NONE : image->verdict[rule].prio;
}

struct policy_image *image_of(const struct policy *policy)
{
	struct policy_image *image = NULL;
	struct policy_error error;

	if (policy_compile(policy, &image_names, 7, &image, &error))
		fail_msg("%s", error.text);
	return image;
}
