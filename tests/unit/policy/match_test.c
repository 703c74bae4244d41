// SPDX-License-Identifier: Apache-2.0
/* Images: of no rules and of as many as there can be, what is remembered of them, what they cost.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/prefix.h"
#include "image.h"

static void read_policy(const char *text, struct policy *ret)
{
	struct policy_error error;

	if (policy_read(text, strlen(text), "text", ret, &error))
		fail_msg("%s", error.text);
}

static void test_builtin(void **state)
{
	struct policy policy = {};
	struct policy_image *image = image_of(&policy);
	struct request request = {.device = "eth0", .cgroup = "", .host = ""};

	(void)state;
	for (enum policy_dir dir = 0; dir < POLICY_DIRS; dir++) {
		request.dir = dir;
		assert_int_equal(image_prio(image, &request), oracle_prio(&policy, &request));
	}
	assert_int_equal(image->rules, POLICY_BUILTIN_RULES);
	free(image);
}

/* All the rules that a policy can have, each with a network of its own. */
static void large_policy(struct policy *policy, uint32_t rules)
{
	struct policy_error error;

	*policy = (struct policy){};
	for (uint32_t i = 0; i < rules; i++) {
		struct policy_rule rule;
		char text[32];

		policy_rule_init(&rule);
		rule.prio = i * 2;
		rule.action = POLICY_SKIP;
		rule.to.kind = POLICY_PREFIX;
		snprintf(text, sizeof(text), "10.%u.%u.0/24", i / 250, i % 250);
		assert_int_equal(prefix_parse(text, &rule.to.prefix), 0);
		assert_int_equal(policy_put_rule(policy, &rule, POLICY_PUT_NEW, &error), 0);
	}
}

static struct request request_to(const char *text)
{
	struct request request = {.port = 80, .device = "eth0", .cgroup = "", .host = ""};
	struct policy_prefix prefix;

	assert_int_equal(prefix_parse(text, &prefix), 0);
	memcpy(request.to, prefix.address, 16);
	return request;
}

static void test_large(void **state)
{
	struct policy policy;
	struct policy_image *image;
	struct request last = request_to("10.3.249.9"), none = request_to("11.0.0.1");

	(void)state;
	large_policy(&policy, POLICY_USER_RULES_MAX);
	image = image_of(&policy);
	assert_int_equal(image_prio(image, &last), 1998);
	assert_int_equal(image_prio(image, &none), POLICY_PRIO_MAX + 766);
	free(image);
	policy_clear(&policy);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Nanoseconds per match that ends at the rules' end; the best of some. */
static double cost(uint32_t rules)
{
	struct request request = request_to("11.0.0.1");
	struct policy_query query = {
	    .to = policy_address(request.to), .port = {0, 80}, .device = {0, 3}};
	volatile __u32 found;
	struct policy policy;
	struct policy_image *image;
	uint64_t best = UINT64_MAX;
	int lasting;

	large_policy(&policy, rules);
	image = image_of(&policy);
	for (int i = 0; i < 20; i++) {
		uint64_t begin = now_ns(), took;

		for (int k = 0; k < 2000; k++)
			found = policy_match(image, &query, &lasting);
		(void)found;
		took = now_ns() - begin;
		best = took < best ? took : best;
	}
	free(image);
	policy_clear(&policy);
	return (double)best / 2000;
}

/* Not a benchmark, but a thousand asked one by one would be far from it. */
static void test_cost(void **state)
{
	double few = cost(1), many = cost(POLICY_USER_RULES_MAX);

	(void)state;
	print_message("1 rule: %.0f ns, %d rules: %.0f ns\n", few, POLICY_USER_RULES_MAX, many);
	assert_true(many < few * 5 + 500);
}

static void test_remembered(void **state)
{
	struct policy_image image = {.generation = 5}, other = {.generation = 6};

	(void)state;
	for (__u32 rule = 0; rule < POLICY_RULES_MAX; rule++) {
		__u32 word = policy_remember(&image, rule);

		assert_int_not_equal(word, 0);
		assert_int_equal(policy_recall(&image, word), rule);
		assert_int_equal(policy_recall(&other, word), POLICY_NONE);
	}
	assert_int_equal(policy_recall(&image, 0), POLICY_NONE);
}

static void test_sample(void **state)
{
	struct policy_rule rule;

	(void)state;
	policy_rule_init(&rule);
	assert_int_equal(policy_verdict_of(&rule).unsampled, 0);
	rule.sample = 0;
	assert_int_equal(policy_verdict_of(&rule).unsampled, 1ULL << 56);
	rule.sample = POLICY_SAMPLE_ALL / 4;
	assert_int_equal(policy_verdict_of(&rule).unsampled, 3ULL << 54);
}

static void test_too_much(void **state)
{
	struct policy policy;
	struct policy_image *image;
	struct policy_error error;

	(void)state;
	read_policy("policy add host *.1.2.3.4.5.6.7.8 action skip\n", &policy);
	assert_int_equal(policy_compile(&policy, &image_names, 1, &image, &error), -EOPNOTSUPP);
	policy_clear(&policy);
	large_policy(&policy, POLICY_USER_RULES_MAX);
	for (size_t i = 0; i < policy.count; i++) {
		policy.rules[i].from = policy.rules[i].to;
		policy.rules[i].ports[0] = (struct policy_ports){(__u16)(i * 2), (__u16)(i * 2)};
		policy.rules[i].port_count = 1;
		strcpy(policy.rules[i].device, image_devices[1 + i % 3]);
	}
	/* Each with numbers of its own, in three dimensions: it still fits. */
	assert_int_equal(policy_compile(&policy, &image_names, 1, &image, &error), 0);
	free(image);
	for (uint32_t i = 0; i < 5; i++) {
		struct policy_prefix prefixes[1000] = {};
		struct policy_set set = {.prefixes = prefixes, .count = 1000};

		sprintf(set.name, "s%u", i);
		for (uint32_t k = 0; k < 1000; k++) {
			prefixes[k].address[0] = 0xfd;
			prefixes[k].address[1] = (__u8)i;
			prefixes[k].address[2] = (__u8)(k >> 8);
			prefixes[k].address[3] = (__u8)k;
			prefixes[k].bits = 40;
		}
		assert_int_equal(policy_put_set(&policy, &set, true, &error), 0);
		policy.rules[i].from = (struct policy_end){.kind = POLICY_SET};
		strcpy(policy.rules[i].from.set, set.name);
	}
	assert_int_equal(policy_compile(&policy, &image_names, 1, &image, &error), -E2BIG);
	policy_clear(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_builtin), cmocka_unit_test(test_large),
	    cmocka_unit_test(test_cost),    cmocka_unit_test(test_remembered),
	    cmocka_unit_test(test_sample),  cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
