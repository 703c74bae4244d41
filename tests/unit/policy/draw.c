// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/prefix.h"
#include "draw.h"
#include "image.h"

static uint64_t random_state = 88172645463325252ULL;

uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

static const char *const patterns[] = {"", "a.b", "*.b", "*.a.b", "b", "x.a.b", "*.x.a.b", "*.c"};
static const char *const hosts[] = {"", "a.b", "b", "x.a.b", "y.x.a.b", "xa.b", "d"};

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

/* A range, or a list of some. */
static void draw_ports(struct policy_rule *rule)
{
	rule->port_count = draw(3) ? 1 : 2 + draw(POLICY_PORTS_MAX - 1);
	for (unsigned int i = 0; i < rule->port_count; i++) {
		rule->ports[i].first = (__u16)(80 + draw(6));
		rule->ports[i].last = (__u16)(rule->ports[i].first + draw(3));
	}
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
		draw_ports(rule);
	} else if (draw(8) == 0) {
		rule->ports[0].first = rule->ports[0].last = draw(2) ? 0 : 65535;
		rule->port_count = 1;
	}
	if (draw(3) == 0)
		strcpy(rule->device, image_devices[draw(IMAGE_DEVICES)]);
	if (rule->dir == POLICY_OUT && draw(3) == 0)
		strcpy(rule->cgroup, image_cgroups[draw(IMAGE_CGROUPS)]);
	if (rule->dir != POLICY_IN && draw(3) == 0)
		strcpy(rule->host, patterns[draw(COUNT(patterns))]);
}

void draw_policy(struct policy *policy)
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

void draw_request(const struct policy *policy, struct request *request)
{
	request->dir = draw(POLICY_DIRS);
	draw_near(policy, request->from);
	draw_near(policy, request->to);
	request->port = (__u16)(draw(4) ? 79 + draw(10) : draw(2) * 65535);
	request->device = image_devices[1 + draw(IMAGE_DEVICES - 2)];
	request->host = hosts[draw(COUNT(hosts))];
	request->cgroup = request->dir == POLICY_OUT ? image_cgroups[draw(IMAGE_CGROUPS - 1)] : "";
}
