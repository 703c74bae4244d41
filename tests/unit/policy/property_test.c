// SPDX-License-Identifier: Apache-2.0
/* The image of any policy decides as its rules do, asked one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/prefix.h"
#include "draw.h"
#include "image.h"

#define POLICIES 300
#define REQUESTS 400

static void show(const struct policy *policy, const struct request *request, __u32 got, __u32 want)
{
	char from[POLICY_PREFIX_TEXT_MAX], to[POLICY_PREFIX_TEXT_MAX];
	struct policy_prefix a = {.bits = 128}, b = {.bits = 128};

	memcpy(a.address, request->from, 16);
	memcpy(b.address, request->to, 16);
	policy_write(stderr, policy);
	fail_msg("dir %d from %s to %s port %u dev %s cgroup %s host %s: rule %u, not %u",
		 request->dir, prefix_text(from, &a), prefix_text(to, &b), request->port,
		 request->device, request->cgroup, request->host, got, want);
}

static void test_as_oracle(void **state)
{
	size_t by_user = 0;

	(void)state;
	for (int i = 0; i < POLICIES; i++) {
		struct policy policy;
		struct policy_image *image;

		draw_policy(&policy);
		image = image_of(&policy);
		for (int k = 0; k < REQUESTS; k++) {
			struct request request;
			__u32 got, want;

			draw_request(&policy, &request);
			got = image_prio(image, &request);
			want = oracle_prio(&policy, &request);
			by_user += want < POLICY_PRIO_MAX;
			if (got != want)
				show(&policy, &request, got, want);
		}
		free(image);
		policy_clear(&policy);
	}
	/* It is not always the built-in rule. */
	assert_true(by_user > POLICIES * REQUESTS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_oracle)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
