// SPDX-License-Identifier: Apache-2.0
/* Rules and sets in netlink messages: what is sent arrives, and nothing else is taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "control/codec.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "policy_string.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static _Alignas(struct nlmsghdr) char bytes[65536];

static int take_rule(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	struct policy_error error;

	(void)about;
	return policy_put_rule(data, rule, POLICY_PUT_NEW, &error);
}

static int take_set(const struct policy_set *set, void *data)
{
	struct policy_error error;

	return policy_put_set(data, set, false, &error);
}

static int read_into(struct policy *policy, struct policy_error *error)
{
	const struct control_visitor visitor = {
	    .on_rule = take_rule, .on_set = take_set, .data = policy, .error = error};

	*error = (struct policy_error){};
	*policy = (struct policy){};
	return control_read((const struct nlmsghdr *)bytes, &visitor);
}

static void write_all(const struct policy *policy)
{
	struct control_message message;

	memset(bytes, 0, sizeof(bytes));
	control_begin(&message, bytes, sizeof(bytes), CONTROL_RESTORE, NLM_F_REQUEST);
	for (size_t i = 0; i < policy->set_count; i++)
		assert_true(control_put_set(&message, &policy->sets[i]));
	for (size_t i = 0; i < policy->count; i++)
		assert_true(control_put_rule(&message, &policy->rules[i], NULL));
}

static const char everything[] =
    "set cluster add ::/0 0.0.0.0/0 10.0.0.0/8 fd00::/8\n"
    "set empty add\n"
    "policy add prio 0 dir in from !cluster action ignore\n"
    "policy add prio 1 dir out dev eth0 from 10.0.0.0/8 to !fd00::1 port 0-65534 cgroup /a/b "
    "host *.example.com action inject sample 0.000001 root no tracestate no\n"
    "policy add prio 2 dir out action strip\n"
    "policy add prio 32000 dir forward to empty port 443,8000-8999 action restart sample 0\n";

static void read_policy(const char *text, struct policy *ret)
{
	struct policy_error error;

	if (policy_read(text, strlen(text), "text", ret, &error))
		fail_msg("%s", error.text);
}

static void test_round(void **state)
{
	struct policy policy, again;
	struct policy_error error;
	char *text;

	(void)state;
	read_policy(everything, &policy);
	write_all(&policy);
	if (read_into(&again, &error))
		fail_msg("%s", error.text);
	text = policy_string(&again);
	assert_string_equal(text, everything);
	free(text);
	policy_clear(&policy);
	policy_clear(&again);
}

static int take_about(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	(void)rule;
	*(struct control_about *)data = *about;
	return 0;
}

/* What an answer says beside a rule, and what a request says: nothing. */
static void test_about(void **state)
{
	const struct control_about said = {.builtin = true, .hits = 1ULL << 40};
	struct control_about heard;
	struct policy_error error = {};
	const struct control_visitor visitor = {
	    .on_rule = take_about, .data = &heard, .error = &error};
	struct control_message message;

	(void)state;
	for (int answers = 0; answers < 2; answers++) {
		memset(bytes, 0, sizeof(bytes));
		control_begin(&message, bytes, sizeof(bytes), CONTROL_RULE_NEW, 0);
		assert_true(control_put_rule(&message, policy_builtin(0), answers ? &said : NULL));
		assert_int_equal(control_read(message.header, &visitor), 0);
		assert_int_equal(heard.builtin, answers);
		assert_int_equal(heard.hits, answers ? said.hits : 0);
	}
}

/* No room: the message stays as it was, and valid. */
static void test_no_room(void **state)
{
	struct policy policy;

	(void)state;
	read_policy(everything, &policy);
	for (size_t room = 64; room < 512; room++) {
		struct control_message message;
		__u32 before;

		control_begin(&message, bytes, room, CONTROL_RESTORE, 0);
		before = message.header->nlmsg_len;
		if (!control_put_rule(&message, &policy.rules[1], NULL))
			assert_int_equal(message.header->nlmsg_len, before);
		if (!control_put_set(&message, &policy.sets[0]))
			assert_true(message.header->nlmsg_len <= room);
		assert_true(message.header->nlmsg_len <= room);
	}
	policy_clear(&policy);
}

/* Cut anywhere, or with any bit changed: an error or a policy that text could say. */
static void test_damaged(void **state)
{
	struct nlmsghdr *header = (struct nlmsghdr *)bytes;
	struct policy policy, got;
	struct policy_error error;
	__u32 length;
	int taken = 0;

	(void)state;
	read_policy(everything, &policy);
	write_all(&policy);
	length = header->nlmsg_len;
	for (__u32 cut = NLMSG_HDRLEN; cut < length; cut++) {
		header->nlmsg_len = cut;
		read_into(&got, &error);
		policy_clear(&got);
	}
	for (__u32 bit = NLMSG_HDRLEN * 8; bit < length * 8; bit++) {
		write_all(&policy);
		bytes[bit / 8] ^= (char)(1 << bit % 8);
		if (!read_into(&got, &error)) {
			struct policy again;
			char *text = policy_string(&got);

			taken++;
			read_policy(text, &again);
			policy_clear(&again);
			free(text);
		} else {
			assert_true(error.text[0] || got.count < policy.count);
		}
		policy_clear(&got);
	}
	assert_true(taken > 0);
	policy_clear(&policy);
}

/* A message by hand. */
static struct nlmsghdr *begin(void)
{
	struct control_message message;

	memset(bytes, 0, sizeof(bytes));
	control_begin(&message, bytes, sizeof(bytes), CONTROL_RULE_NEW, NLM_F_REQUEST);
	return message.header;
}

static void refused(const char *why, int err)
{
	struct policy policy;
	struct policy_error error;

	assert_int_equal(read_into(&policy, &error), err);
	assert_string_equal(error.text, why);
	policy_clear(&policy);
}

static void rule_with(__u16 type, const void *payload, size_t size)
{
	struct nlmsghdr *header = begin();
	struct nlattr *nest = mnl_attr_nest_start(header, CONTROL_RULE);

	mnl_attr_put(header, type, size, payload);
	mnl_attr_nest_end(header, nest);
}

static void test_attributes(void **state)
{
	struct nlmsghdr *header = begin();
	struct nlattr *nest;

	(void)state;
	mnl_attr_put_u8(header, 9, 1);
	refused("there is no attribute 9 here", -EINVAL);
	header = begin();
	mnl_attr_put_u8(header, 0, 1);
	refused("there is no attribute 0 here", -EINVAL);
	rule_with(CONTROL_RULE_ATTRIBUTES, "", 0);
	refused("there is no attribute 15 here", -EINVAL);
	rule_with(CONTROL_RULE_PRIO, "\1\0", 2);
	refused("attribute 'prio' has a payload of 2 bytes", -ERANGE);
	rule_with(CONTROL_RULE_PRIO, "\1\0\0\0\0", 5);
	refused("attribute 'prio' has a payload of 5 bytes", -ERANGE);
	rule_with(CONTROL_RULE_NO_ROOT, "\1", 1);
	refused("attribute 'root no' has a payload of 1 bytes", -ERANGE);
	rule_with(CONTROL_RULE_DEVICE, "eth0", 4);
	refused("attribute 'dev' has a payload of 4 bytes that are no text", -ERANGE);
	rule_with(CONTROL_RULE_DEVICE, "a\0b", 4);
	refused("attribute 'dev' has a payload of 4 bytes that are no text", -ERANGE);
	rule_with(CONTROL_RULE_DEVICE, "0123456789abcdef", 17);
	refused("attribute 'dev' has a payload of 17 bytes that are no text", -ERANGE);
	rule_with(CONTROL_RULE_DEVICE, "a b", 4);
	refused("a rule that no text could say", -EINVAL);
	rule_with(CONTROL_RULE_HOST, "Example", 8);
	refused("a rule that no text could say", -EINVAL);
	rule_with(CONTROL_RULE_CGROUP, "/a/", 4);
	refused("a rule that no text could say", -EINVAL);
	rule_with(CONTROL_RULE_ACTION, "\xff", 1);
	refused("a rule that no text could say", -EINVAL);
	rule_with(CONTROL_RULE_DIR, "\3", 1);
	refused("a rule that no text could say", -EINVAL);
	header = begin();
	nest = mnl_attr_nest_start(header, CONTROL_RULE);
	mnl_attr_put_u8(header, CONTROL_RULE_DIR, 0);
	mnl_attr_put_u8(header, CONTROL_RULE_DIR, 0);
	mnl_attr_nest_end(header, nest);
	refused("attribute 'dir' comes twice", -EINVAL);
	header = begin();
	((struct control_header *)mnl_nlmsg_get_payload(header))->version = 2;
	refused("the message has version 2 of the protocol, this program version 1",
		-EPROTONOSUPPORT);
	header = begin();
	header->nlmsg_len = NLMSG_HDRLEN + 2;
	refused("the message is cut off", -EINVAL);
	header = begin();
	header->nlmsg_len += 3;
	refused("an attribute is cut off", -EINVAL);
}

static void test_prefixes(void **state)
{
	struct control_prefix prefix = {.address = {10, 1}, .bits = 8};
	struct nlmsghdr *header = begin();
	struct nlattr *nest = mnl_attr_nest_start(header, CONTROL_SET);

	(void)state;
	mnl_attr_put_strz(header, CONTROL_SET_NAME, "s");
	mnl_attr_put(header, CONTROL_SET_PREFIX, sizeof(prefix), &prefix);
	mnl_attr_nest_end(header, nest);
	refused("attribute 'network' is none", -EINVAL);
	header = begin();
	nest = mnl_attr_nest_start(header, CONTROL_SET);
	mnl_attr_put_strz(header, CONTROL_SET_NAME, "S");
	mnl_attr_nest_end(header, nest);
	refused("a set without a proper name", -EINVAL);
	header = begin();
	nest = mnl_attr_nest_start(header, CONTROL_SET);
	mnl_attr_put_strz(header, CONTROL_SET_NAME, "s");
	prefix = (struct control_prefix){};
	for (int i = 0; i <= POLICY_PREFIXES_MAX; i++)
		mnl_attr_put(header, CONTROL_SET_PREFIX, sizeof(prefix), &prefix);
	mnl_attr_nest_end(header, nest);
	refused("a set has no more than 1024 networks", -E2BIG);
}

static int keep_store(const struct control_store *store, void *data)
{
	*(struct control_store *)data = *store;
	return 0;
}

static int read_store(struct control_store *ret, struct policy_error *error)
{
	const struct control_visitor visitor = {
	    .on_store = keep_store, .data = ret, .error = error};

	*error = (struct policy_error){};
	return control_read((const struct nlmsghdr *)bytes, &visitor);
}

/* A store, one that is not there now, and none. */
static void test_store(void **state)
{
	static const struct control_store stores[] = {
	    {.path = "/var/lib/x.db", .device = 1ULL << 40, .inode = 7}, {.path = "/x"}, {}};
	struct control_store heard;
	struct policy_error error;
	struct control_message message;

	(void)state;
	for (size_t i = 0; i < COUNT(stores); i++) {
		memset(bytes, 0, sizeof(bytes));
		control_begin(&message, bytes, sizeof(bytes), CONTROL_STORE_GET, NLM_F_MULTI);
		assert_true(control_put_store(&message, &stores[i]));
		assert_int_equal(read_store(&heard, &error), 0);
		assert_string_equal(heard.path, stores[i].path);
		assert_int_equal(heard.device, stores[i].device);
		assert_int_equal(heard.inode, stores[i].inode);
	}
	control_begin(&message, bytes, 64, CONTROL_STORE_GET, NLM_F_MULTI);
	assert_false(control_put_store(&message, &stores[0]));
	assert_true(message.header->nlmsg_len <= 64);
}

/* A path that means nothing here, and texts that are none. */
static void test_store_refused(void **state)
{
	static const struct {
		const char *path;
		size_t size;
		const char *why;
	} wrong[] = {{"x.db", 5, "a store at no absolute path"},
		     {"/x.db", 5, "attribute 'path' has a payload of 5 bytes that are no text"}};
	struct control_store heard;
	struct policy_error error;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct nlmsghdr *header = begin();
		struct nlattr *nest = mnl_attr_nest_start(header, CONTROL_STORE);

		mnl_attr_put(header, CONTROL_STORE_PATH, wrong[i].size, wrong[i].path);
		mnl_attr_nest_end(header, nest);
		assert_true(read_store(&heard, &error) < 0);
		assert_string_equal(error.text, wrong[i].why);
	}
}

/* Lengths that lie, in a datagram that ends where its memory does. */
static void test_walk(void **state)
{
	static const __u32 lengths[] = {0,     3,          15,         17,        25,
					10000, 0x7fffffff, 0x80000000, 0xffffffff};

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct nlmsghdr *header = malloc(24);
		const char *at = (const char *)header;
		size_t left = 24;

		*header = (struct nlmsghdr){.nlmsg_len = lengths[i]};
		if (lengths[i] == 17)
			assert_ptr_equal(control_next(&at, &left), header);
		assert_null(control_next(&at, &left));
		free(header);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round),         cmocka_unit_test(test_about),
	    cmocka_unit_test(test_no_room),       cmocka_unit_test(test_damaged),
	    cmocka_unit_test(test_attributes),    cmocka_unit_test(test_prefixes),
	    cmocka_unit_test(test_walk),          cmocka_unit_test(test_store),
	    cmocka_unit_test(test_store_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
