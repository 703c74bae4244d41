// SPDX-License-Identifier: Apache-2.0
/* Rules, sets and policy files: what is read is what is written, and what is wrong is named. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/prefix.h"
#include "policy_string.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int read_text(const char *text, struct policy *ret, struct policy_error *error)
{
	return policy_read(text, strlen(text), "f", ret, error);
}

static void expect_written(const char *text, const char *wanted)
{
	struct policy_error error = {};
	struct policy policy;
	char *got;

	if (read_text(text, &policy, &error))
		fail_msg("%s: %s", text, error.text);
	got = policy_string(&policy);
	assert_string_equal(got, wanted);
	free(got);
	policy_clear(&policy);
}

static void test_prefixes(void **state)
{
	static const char *const same[] = {"10.0.0.0/8",       "0.0.0.0/0", "10.1.2.3",
					   "fd00::/8",         "::/0",      "fd00::1",
					   "192.168.1.128/25", "::1"};
	struct policy_prefix prefix;
	char text[POLICY_PREFIX_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		assert_int_equal(prefix_parse(same[i], &prefix), 0);
		assert_true(prefix_is_sound(&prefix));
		assert_string_equal(prefix_text(text, &prefix), same[i]);
	}
	assert_int_equal(prefix_parse("::ffff:10.0.0.0/104", &prefix), 0);
	assert_string_equal(prefix_text(text, &prefix), "10.0.0.0/8");
	assert_int_equal(prefix_parse("10.0.0.1/8", &prefix), -EDOM);
	assert_string_equal(prefix_text(text, &prefix), "10.0.0.0/8");
}

static void test_no_prefixes(void **state)
{
	static const char *const wrong[] = {"",
					    "/",
					    "10",
					    "10.0.0.0/33",
					    "10.0.0.0/",
					    "10.0.0.0/8/8",
					    "fd00::/129",
					    "fd00::/-1",
					    "10.0.0.256",
					    "host",
					    "10.0.0.0/ 8",
					    "10.0.0.0/+8",
					    ":::",
					    "1.2.3.4.5",
					    "1111111111111111111111111111111111111111111111111111"};
	struct policy_prefix prefix;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (prefix_parse(wrong[i], &prefix) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
}

static void test_canonical(void **state)
{
	(void)state;
	expect_written("", "");
	expect_written("# nothing\n\n   # at all", "");
	expect_written("policy add action inject", "policy add prio 100 dir out action inject\n");
	expect_written("policy add action skip port 443 prio 7\npolicy add action ignore\r\n",
		       "policy add prio 7 dir out port 443 action skip\n"
		       "policy add prio 17 dir in action ignore\n");
	expect_written("set b add\nset a add fd00::/8 10.0.0.0/8 10.0.0.0/8 # twice\n"
		       "policy add action inject from any to !a",
		       "set a add 10.0.0.0/8 fd00::/8\nset b add\n"
		       "policy add prio 100 dir out to !a action inject\n");
	expect_written(
	    "policy add prio 2 action skip\npolicy add prio 1 action observe \\\n"
	    "  dev eth0 \\\n from 10.0.0.0/8 to !10.1.2.3",
	    "policy add prio 1 dir out dev eth0 from 10.0.0.0/8 to !10.1.2.3 action observe\n"
	    "policy add prio 2 dir out action skip\n");
	expect_written(
	    "policy add host *.Example.COM dir forward port 80-90 action inject "
	    "sample 0.250 root no tracestate no",
	    "policy add prio 100 dir forward port 80-90 host *.example.com action inject "
	    "sample 0.25 root no tracestate no\n");
	expect_written("policy add cgroup /a/b/ action inject sample 1.000000 root yes",
		       "policy add prio 100 dir out cgroup /a/b action inject\n");
	expect_written("policy add action skip port 80,443,8000-8999",
		       "policy add prio 100 dir out port 80,443,8000-8999 action skip\n");
	expect_written("policy add action skip port 0-65535",
		       "policy add prio 100 dir out action skip\n");
	expect_written("policy add action restart sample 0.000001 port 0",
		       "policy add prio 100 dir out port 0 action restart sample 0.000001\n");
}

/* What is written is read again, as it was. */
static void test_round(void **state)
{
	static const char text[] = "set cluster add 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16\n"
				   "policy add prio 0 dir in from !cluster action ignore\n"
				   "policy add prio 32000 dir forward action strip\n";

	(void)state;
	expect_written(text, text);
}

static const struct {
	const char *text;
	const char *error;
} wrong[] = {
    {"policy", "f:1:1: 'policy': 'add' is missing behind it"},
    /* What is no policy is not quoted. */
    {"rule add", "f:1:1: expected 'policy add' or 'set NAME add'"},
    {"root:secret:1:0:99999:7:::\nset x add 10.0.0.0/8",
     "f:1:1: expected 'policy add' or 'set NAME add'"},
    {"set secret=1", "f:1:5: 'add' is missing behind it"},
    {"set x add 10.0.0.0/8\nrule add", "f:2:1: 'rule': expected 'policy add' or 'set NAME add'"},
    {"\n policy del prio 1", "f:2:9: expected 'add'"},
    {"policy add", "f:1:8: 'add': 'action ACTION' is missing behind it"},
    {"policy add port 80", "f:1:17: '80': 'action ACTION' is missing"},
    {"policy add action", "f:1:12: 'action': a value is missing behind it"},
    {"policy add action inject action inject", "f:1:26: 'action': said twice"},
    {"policy add action proxy",
     "f:1:19: 'proxy': expected inject, observe, restart, strip, skip, accept or ignore"},
    {"policy add dir up action inject", "f:1:16: 'up': expected out, in or forward"},
    {"policy add to 10.0.0.1/8 action inject",
     "f:1:15: '10.0.0.1/8': bits are set behind the prefix; the network is 10.0.0.0/8"},
    {"policy add to 10.0.0.0/99 action inject",
     "f:1:15: '10.0.0.0/99': expected a network such as 10.0.0.0/8 or fd00::/8"},
    {"policy add to Cluster action inject",
     "f:1:15: 'Cluster': expected any, a network (10.0.0.0/8) or the name of a set"},
    {"policy add to !any action inject", "f:1:15: '!any': '!any' would fit nothing"},
    {"policy add to !cluster action inject",
     "f:1:8: 'add': there is no set 'cluster'; make it first: set cluster add PREFIX"},
    {"policy add port 80,,443 action inject", "f:1:17: '80,,443': expected a port (80), ports "
					      "(8000-8999), or a list of these (80,443), from "
					      "0 to 65535"},
    {"policy add port 1,2,3,4,5,6,7,8,9 action inject",
     "f:1:17: '1,2,3,4,5,6,7,8,9': expected no more than 8 ranges of ports"},
    {"policy add port 90-80 action inject", "f:1:17: '90-80': the first port is the larger one"},
    {"policy add port 65536 action inject", "f:1:17: '65536': expected a port (80), ports "
					    "(8000-8999), or a list of these (80,443), from 0 "
					    "to 65535"},
    {"policy add port 1-2-3 action inject", "f:1:17: '1-2-3': expected a port (80), ports "
					    "(8000-8999), or a list of these (80,443), from 0 "
					    "to 65535"},
    {"policy add prio 32001 action inject", "f:1:17: '32001': expected a number from 0 to 32000"},
    {"policy add prio 1 action skip\npolicy add prio 1 action skip",
     "f:2:8: 'add': there is a rule of priority 1 already; delete it first, or use 'policy "
     "replace'"},
    {"policy add action inject sample .5",
     "f:1:33: '.5': expected a ratio from 0 to 1 with at most six decimals, such as 0.25"},
    {"policy add action inject sample 1.1",
     "f:1:33: '1.1': expected a ratio from 0 to 1 with at most six decimals, such as 0.25"},
    {"policy add action inject sample 0.1234567",
     "f:1:33: '0.1234567': expected a ratio from 0 to 1 with at most six decimals, such as 0.25"},
    {"policy add action inject root maybe", "f:1:31: 'maybe': expected yes or no"},
    {"policy add action skip root no", "f:1:8: 'add': 'root no' needs 'action inject'"},
    {"policy add action accept cgroup /a",
     "f:1:8: 'add': only the sender's cgroup is known: 'cgroup' needs 'dir out'"},
    {"policy add action inject cgroup a", "f:1:33: 'a': expected the path of a cgroup, such as "
					  "/system.slice/nginx.service, of less than "
					  "256 characters"},
    {"policy add action inject host a..b",
     "f:1:31: 'a..b': expected the name of a host, without port, or *.SUFFIX"},
    {"policy add action inject host *",
     "f:1:31: '*': expected the name of a host, without port, or *.SUFFIX"},
    {"policy add action inject dev 0123456789abcdef",
     "f:1:30: '0123456789abcdef': expected the name of a network device"},
    {"set", "f:1:1: 'set': the name of a set is missing behind it"},
    {"set x del 10.0.0.0/8", "f:1:7: expected 'add'"},
    {"set any add 10.0.0.0/8", "f:1:5: 'any': expected the name of a set: a lowercase letter, then "
			       "lowercase letters, digits, - or _"},
    {"set x add 10.0.0.0/8 \\\n  10.0.0.0/33",
     "f:2:3: '10.0.0.0/33': expected a network such as 10.0.0.0/8 or fd00::/8"},
    {"policy add action inject frobnicate 1",
     "f:1:26: 'frobnicate': expected prio, dir, dev, from, to, port, cgroup, host, action, sample, "
     "root or tracestate"},
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct policy_error error = {};
		struct policy policy;

		if (!read_text(wrong[i].text, &policy, &error))
			fail_msg("taken: %s", wrong[i].text);
		assert_string_equal(error.text, wrong[i].error);
		assert_int_equal(policy.count + policy.set_count, 0);
	}
}

static struct policy_rule rule_of(__u32 prio)
{
	struct policy_rule rule;

	policy_rule_init(&rule);
	rule.prio = prio;
	return rule;
}

static void test_put(void **state)
{
	struct policy_rule rule = rule_of(5);
	struct policy_error error = {};
	struct policy policy = {};

	(void)state;
	assert_int_equal(policy_put_rule(&policy, &rule, POLICY_PUT_EXISTING, &error), -ENOENT);
	assert_int_equal(policy_put_rule(&policy, &rule, POLICY_PUT_NEW, &error), 0);
	assert_int_equal(policy_put_rule(&policy, &rule, POLICY_PUT_NEW, &error), -EEXIST);
	rule.action = POLICY_SKIP;
	assert_int_equal(policy_put_rule(&policy, &rule, POLICY_PUT_EITHER, &error), 0);
	assert_int_equal(policy_find(&policy, 5)->action, POLICY_SKIP);
	assert_int_equal(policy.count, 1);
	assert_int_equal(policy_delete_rule(&policy, 6, &error), -ENOENT);
	assert_int_equal(policy_delete_rule(&policy, POLICY_PRIO_MAX + 766, &error), -ENOENT);
	assert_non_null(strstr(error.text, "built-in"));
	assert_int_equal(policy_delete_rule(&policy, 5, &error), 0);
	assert_null(policy_find(&policy, 5));
	policy_clear(&policy);
}

static void test_full(void **state)
{
	struct policy_error error = {};
	struct policy policy = {}, copy;
	struct policy_rule rule;

	(void)state;
	for (__u32 i = 0; i < POLICY_USER_RULES_MAX; i++) {
		rule = rule_of((i * 7919) % 31991);
		assert_int_equal(policy_put_rule(&policy, &rule, POLICY_PUT_NEW, &error), 0);
	}
	rule = rule_of(POLICY_PRIO_MAX);
	assert_int_equal(policy_put_rule(&policy, &rule, POLICY_PUT_NEW, &error), -E2BIG);
	for (size_t i = 1; i < policy.count; i++)
		assert_true(policy.rules[i - 1].prio < policy.rules[i].prio);
	assert_int_equal(policy_copy(&policy, &copy), 0);
	policy_clear(&policy);
	assert_int_equal(copy.count, POLICY_USER_RULES_MAX);
	policy_flush_rules(&copy);
	assert_int_equal(copy.count, 0);
	policy_clear(&copy);
}

static void test_sets(void **state)
{
	static const char text[] = "set used add 10.0.0.0/8 fd00::/8\nset free add 10.0.0.0/8\n"
				   "policy add to used action skip\n";
	struct policy_error error = {};
	struct policy policy;
	struct policy_set some = {.name = "used"};

	(void)state;
	assert_int_equal(read_text(text, &policy, &error), 0);
	assert_int_equal(policy_flush_set(&policy, "free", &error), 0);
	assert_null(policy_find_set(&policy, "free"));
	assert_int_equal(policy_flush_set(&policy, "free", &error), -ENOENT);
	some.prefixes = policy.sets[0].prefixes;
	some.count = 1;
	assert_int_equal(policy_put_set(&policy, &some, true, &error), -EEXIST);
	assert_int_equal(policy_put_set(&policy, &some, false, &error), 0);
	assert_int_equal(policy_find_set(&policy, "used")->count, 2);
	some.prefixes = &(struct policy_prefix){};
	assert_int_equal(policy_delete_from_set(&policy, &some, &error), -ENOENT);
	assert_int_equal(policy_flush_set(&policy, "used", &error), 0);
	assert_int_equal(policy_find_set(&policy, "used")->count, 0);
	policy_flush_rules(&policy);
	assert_int_equal(policy_flush_set(&policy, "used", &error), 0);
	assert_int_equal(policy.set_count, 0);
	policy_clear(&policy);
}

static void test_not_text(void **state)
{
	struct policy_error error = {};
	struct policy policy;

	(void)state;
	assert_int_equal(policy_read("a\0b", 3, "f", &policy, &error), -EINVAL);
	assert_string_equal(error.text, "f: not a text");
	assert_int_equal(policy_read_file("/nonexistent/policy", &policy, &error), -ENOENT);
	assert_string_equal(error.text, "/nonexistent/policy: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_prefixes),  cmocka_unit_test(test_no_prefixes),
	    cmocka_unit_test(test_canonical), cmocka_unit_test(test_round),
	    cmocka_unit_test(test_errors),    cmocka_unit_test(test_put),
	    cmocka_unit_test(test_full),      cmocka_unit_test(test_sets),
	    cmocka_unit_test(test_not_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
