// SPDX-License-Identifier: Apache-2.0
/* The image of a policy decides as its rules do, asked one after the other. */
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

#include "control/compile.h"
#include "control/policy_file.h"
#include "control/prefix.h"
#include "oracle.h"
#include "policy_host.h"

#define POLICIES 300
#define REQUESTS 400

static uint64_t random_state = 88172645463325252ULL;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

/* Few names, so that things meet. The last ones are not there. */
static const char *const devices[] = {"", "eth0", "eth1", "lo", "gone"};
static const char *const cgroups[] = {"",    "/",  "/a",     "/a/b", "/a/b/c",
				      "/ab", "/d", "/d/e/f", "/gone"};
static const char *const patterns[] = {"", "a.b", "*.b", "*.a.b", "b", "x.a.b", "*.x.a.b", "*.c"};
static const char *const hosts[] = {"", "a.b", "b", "x.a.b", "y.x.a.b", "xa.b", "d"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static __u64 device_number(const char *name, void *data)
{
	(void)data;
	for (__u32 i = 1; i < COUNT(devices) - 1; i++)
		if (!strcmp(name, devices[i]))
			return i * 3;
	return 0;
}

static __u64 cgroup_number(const char *path, void *data)
{
	(void)data;
	for (__u64 i = 1; i < COUNT(cgroups) - 1; i++)
		if (!strcmp(path, cgroups[i]))
			return i * 1000;
	return 0;
}

static const struct policy_names names = {.device = device_number, .cgroup = cgroup_number};

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

static void draw_address(__u8 address[16])
{
	memset(address, 0, 16);
	if (draw(3)) {
		address[10] = address[11] = 0xff;
		address[12] = draw(2) ? 10 : 192;
		for (int i = 13; i < 16; i++)
			address[i] = (__u8)(draw(3) ? draw(4) : draw(256));
		return;
	}
	address[0] = draw(2) ? 0xfd : 0;
	for (int i = 1; i < 16; i++)
		address[i] = (__u8)(draw(3) ? 0 : draw(256));
}

static void draw_prefix(struct policy_prefix *prefix)
{
	static const unsigned int lengths[] = {0, 8, 16, 24, 30, 31, 32};
	char text[POLICY_PREFIX_TEXT_MAX], cut[POLICY_PREFIX_TEXT_MAX + 8];
	struct policy_prefix whole = {.bits = 128};
	unsigned int bits = lengths[draw(COUNT(lengths))];

	draw_address(whole.address);
	if (!prefix_is_ipv4(&whole))
		bits *= 4;
	snprintf(cut, sizeof(cut), "%s/%u", prefix_text(text, &whole), bits);
	/* Bits behind the prefix: refused, but cut off as well. */
	assert_int_not_equal(prefix_parse(cut, prefix), -EINVAL);
}

static void draw_end(struct policy_end *end)
{
	end->kind = draw(3);
	end->negated = end->kind != POLICY_ANYONE && draw(3) == 0;
	if (end->kind == POLICY_PREFIX)
		draw_prefix(&end->prefix);
	if (end->kind == POLICY_SET)
		sprintf(end->set, "s%u", draw(3));
}

static void draw_rule(struct policy_rule *rule)
{
	policy_rule_init(rule);
	rule->prio = draw(POLICY_PRIO_MAX);
	rule->dir = draw(POLICY_DIRS);
	rule->action = rule->dir == POLICY_IN ? POLICY_IGNORE : POLICY_SKIP;
	if (draw(2))
		draw_end(&rule->from);
	if (draw(2))
		draw_end(&rule->to);
	if (draw(3) == 0) {
		rule->port_first = (__u16)(80 + draw(6));
		rule->port_last = (__u16)(rule->port_first + draw(3));
	} else if (draw(8) == 0) {
		rule->port_first = rule->port_last = draw(2) ? 0 : 65535;
	}
	if (draw(3) == 0)
		strcpy(rule->device, devices[draw(COUNT(devices))]);
	if (rule->dir == POLICY_OUT && draw(3) == 0)
		strcpy(rule->cgroup, cgroups[draw(COUNT(cgroups))]);
	if (rule->dir != POLICY_IN && draw(3) == 0)
		strcpy(rule->host, patterns[draw(COUNT(patterns))]);
}

static void draw_policy(struct policy *policy)
{
	struct policy_error error;

	*policy = (struct policy){};
	for (int i = 0; i < 3; i++) {
		struct policy_prefix prefixes[6];
		struct policy_set set = {.prefixes = prefixes, .count = draw(7)};

		sprintf(set.name, "s%d", i);
		for (size_t k = 0; k < set.count; k++)
			draw_prefix(&prefixes[k]);
		assert_int_equal(policy_put_set(policy, &set, false, &error), 0);
	}
	for (uint32_t left = draw(40); left; left--) {
		struct policy_rule rule;

		draw_rule(&rule);
		if (policy_put_rule(policy, &rule, POLICY_PUT_EITHER, &error))
			fail_msg("%s", error.text);
	}
}

/* Near a border of one of the rules: there mistakes would be. */
static void draw_near(const struct policy *policy, __u8 address[16])
{
	const struct policy_rule *rule;
	const struct policy_end *end;

	draw_address(address);
	if (!policy->count || draw(2))
		return;
	rule = &policy->rules[draw((uint32_t)policy->count)];
	end = draw(2) ? &rule->from : &rule->to;
	if (end->kind != POLICY_PREFIX)
		return;
	memcpy(address, end->prefix.address, 16);
	if (draw(2) && end->prefix.bits)
		address[(end->prefix.bits - 1) / 8] ^=
		    (__u8)(1 << (7 - (end->prefix.bits - 1) % 8));
	else if (draw(2))
		for (unsigned int n = end->prefix.bits; n < 128; n++)
			address[n / 8] |= (__u8)(1 << (7 - n % 8));
}

static void draw_request(const struct policy *policy, struct request *request)
{
	request->dir = draw(POLICY_DIRS);
	draw_near(policy, request->from);
	draw_near(policy, request->to);
	request->port = (__u16)(draw(4) ? 79 + draw(10) : draw(2) * 65535);
	request->device = devices[1 + draw(COUNT(devices) - 2)];
	request->host = hosts[draw(COUNT(hosts))];
	request->cgroup = request->dir == POLICY_OUT ? cgroups[draw(COUNT(cgroups) - 1)] : "";
}

/* What a program reads in a head with this host, written in one of many ways. */
static int read_host(const char *host, __u64 numbers[POLICY_NESTED_MAX])
{
	static const char *const before[] = {"", "Accept: */*\r\n", "X-Host: b\r\nHostess: b\r\n"};
	static const char *const fields[] = {"Host: ", "host:", "HOST: \t "};
	static const char *const behind[] = {"", ":8080", " ", ".", ".:80"};
	char head[POLICY_HEAD_MAX + 8] = {};
	struct policy_host h;
	int length = snprintf(head, sizeof(head), "GET /host: HTTP/1.1\r\n%s", before[draw(3)]);

	if (host[0])
		length += snprintf(head + length, sizeof(head) - (size_t)length, "%s%s%s\r\n",
				   fields[draw(3)], host, behind[draw(5)]);
	if (draw(2))
		length +=
		    snprintf(head + length, sizeof(head) - (size_t)length, "User-Agent: x\r\n");
	for (char *c = draw(2) ? head : ""; *c; c++)
		if (*c == 'b')
			*c = 'B';
	policy_host_begin(&h, (__u32)length);
	while (!policy_host_find(&h, (const __u8 *)head))
		;
	if (!h.fields)
		return 0;
	while (!policy_host_measure(&h, (const __u8 *)head))
		;
	assert_true(h.ends);
	policy_host_measured(&h, (const __u8 *)head);
	while (!policy_host_take(&h, (const __u8 *)head))
		;
	policy_host_nested(&h, numbers);
	return (int)h.fields;
}

static __u32 image_prio(const struct policy_image *image, const struct request *request)
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
	assert_int_equal(read_host(request->host, query.host), request->host[0] != 0);
	rule = policy_match(image, &query, &lasting);
	/* What lasts does not ask for the host. */
	if (lasting)
		assert_int_equal(rule, hostless);
	return rule == POLICY_NONE ? POLICY_NONE : image->verdict[rule].prio;
}

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

static struct policy_image *compiled(const struct policy *policy)
{
	struct policy_image *image = NULL;
	struct policy_error error;

	if (policy_compile(policy, &names, 7, &image, &error))
		fail_msg("%s", error.text);
	return image;
}

static void test_as_oracle(void **state)
{
	size_t by_user = 0;

	(void)state;
	for (int i = 0; i < POLICIES; i++) {
		struct policy policy;
		struct policy_image *image;

		draw_policy(&policy);
		image = compiled(&policy);
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

static void read_policy(const char *text, struct policy *ret)
{
	struct policy_error error;

	if (policy_read(text, strlen(text), "text", ret, &error))
		fail_msg("%s", error.text);
}

static void test_builtin(void **state)
{
	struct policy policy = {};
	struct policy_image *image = compiled(&policy);
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
	image = compiled(&policy);
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
	image = compiled(&policy);
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

/* Two fields, none, one that does not end here, names with more domains than are looked at. */
static void test_host_fields(void **state)
{
	static const struct {
		const char *head;
		__u32 fields, ends, domains;
	} cases[] = {
	    {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 2, 1, 0},
	    {"GET / HTTP/1.1\nhost: a.b\n", 1, 1, 1},
	    {"Host: a\r\nX: y\r\n", 0, 0, 0},
	    {"GET / HTTP/1.1\r\nHost: a.b", 1, 0, 0},
	    {"GET / HTTP/1.1\r\nHos", 0, 0, 0},
	    {"GET / HTTP/1.1\r\nHost:\r\n", 1, 1, 0},
	    {"GET / HTTP/1.1\r\nHost: 1.2.3.4.5.6.7.8.9.10:1\r\n", 1, 1, POLICY_DOMAINS_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		__u8 window[POLICY_HEAD_MAX + 8] = {};
		__u64 numbers[POLICY_NESTED_MAX];
		struct policy_host h;

		strcpy((char *)window, cases[i].head);
		policy_host_begin(&h, (__u32)strlen(cases[i].head));
		while (!policy_host_find(&h, window))
			;
		assert_int_equal(h.fields, cases[i].fields);
		while (h.fields && !policy_host_measure(&h, window))
			;
		assert_int_equal(h.ends, cases[i].ends);
		if (!h.ends)
			continue;
		policy_host_measured(&h, window);
		while (!policy_host_take(&h, window))
			;
		policy_host_nested(&h, numbers);
		assert_int_equal(h.domains, cases[i].domains);
	}
}

static void test_too_much(void **state)
{
	struct policy policy;
	struct policy_image *image;
	struct policy_error error;

	(void)state;
	read_policy("policy add host *.1.2.3.4.5.6.7.8 action skip\n", &policy);
	assert_int_equal(policy_compile(&policy, &names, 1, &image, &error), -EOPNOTSUPP);
	policy_clear(&policy);
	large_policy(&policy, POLICY_USER_RULES_MAX);
	for (size_t i = 0; i < policy.count; i++) {
		policy.rules[i].from = policy.rules[i].to;
		policy.rules[i].port_first = policy.rules[i].port_last = (__u16)(i * 2);
		strcpy(policy.rules[i].device, devices[1 + i % 3]);
	}
	/* Each with numbers of its own, in three dimensions: it still fits. */
	assert_int_equal(policy_compile(&policy, &names, 1, &image, &error), 0);
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
	assert_int_equal(policy_compile(&policy, &names, 1, &image, &error), -E2BIG);
	policy_clear(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_as_oracle),   cmocka_unit_test(test_builtin),
	    cmocka_unit_test(test_large),       cmocka_unit_test(test_cost),
	    cmocka_unit_test(test_remembered),  cmocka_unit_test(test_sample),
	    cmocka_unit_test(test_host_fields), cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
