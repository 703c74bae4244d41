// SPDX-License-Identifier: Apache-2.0
/* Writing: from rules and sets to attributes. Reading stands in codec_read.c. */
#include <string.h>

#include "control/codec.h"
#include "control/policy_text.h"

void control_begin(struct control_message *message, void *bytes, size_t room, __u16 type,
		   __u16 flags)
{
	struct control_header *family;

	message->header = mnl_nlmsg_put_header(bytes);
	message->header->nlmsg_type = type;
	message->header->nlmsg_flags = flags;
	message->room = room;
	family = mnl_nlmsg_put_extra_header(message->header, sizeof(*family));
	family->version = CONTROL_VERSION;
}

static bool put(const struct control_message *message, __u16 type, const void *payload, size_t size)
{
	return mnl_attr_put_check(message->header, message->room, type, size, payload);
}

static bool put_text(const struct control_message *message, __u16 type, const char *text)
{
	return !text[0] || mnl_attr_put_strz_check(message->header, message->room, type, text);
}

static bool put_flag(const struct control_message *message, __u16 type, bool set)
{
	return !set || put(message, type, NULL, 0);
}

static bool put_prefix(const struct control_message *message, __u16 type,
		       const struct policy_prefix *prefix)
{
	struct control_prefix wire = {.bits = prefix->bits};

	memcpy(wire.address, prefix->address, sizeof(wire.address));
	return put(message, type, &wire, sizeof(wire));
}

static bool put_end(const struct control_message *message, __u16 type, const struct policy_end *end)
{
	struct nlattr *nest;
	bool done;

	if (end->kind == POLICY_ANYONE)
		return true;
	nest = mnl_attr_nest_start_check(message->header, message->room, type);
	if (!nest)
		return false;
	if (end->kind == POLICY_PREFIX)
		done = put_prefix(message, CONTROL_END_PREFIX, &end->prefix);
	else
		done = put_text(message, CONTROL_END_SET, end->set);
	done = done && put_flag(message, CONTROL_END_NEGATED, end->negated);
	mnl_attr_nest_end(message->header, nest);
	return done;
}

static bool put_ports(const struct control_message *message, const struct policy_rule *rule)
{
	for (unsigned int i = 0; i < rule->port_count; i++) {
		__u16 ports[2] = {rule->ports[i].first, rule->ports[i].last};

		if (!put(message, CONTROL_RULE_PORTS, ports, sizeof(ports)))
			return false;
	}
	return true;
}

static bool put_fits(const struct control_message *message, const struct policy_rule *rule)
{
	return put_end(message, CONTROL_RULE_FROM, &rule->from) &&
	       put_end(message, CONTROL_RULE_TO, &rule->to) && put_ports(message, rule) &&
	       put_text(message, CONTROL_RULE_DEVICE, rule->device) &&
	       put_text(message, CONTROL_RULE_CGROUP, rule->cgroup) &&
	       put_text(message, CONTROL_RULE_HOST, rule->host);
}

static bool put_does(const struct control_message *message, const struct policy_rule *rule)
{
	__u8 dir = (__u8)rule->dir, action = (__u8)rule->action;

	return put(message, CONTROL_RULE_DIR, &dir, sizeof(dir)) &&
	       put(message, CONTROL_RULE_ACTION, &action, sizeof(action)) &&
	       put(message, CONTROL_RULE_SAMPLE, &rule->sample, sizeof(rule->sample)) &&
	       put_flag(message, CONTROL_RULE_NO_ROOT, rule->no_root) &&
	       put_flag(message, CONTROL_RULE_NO_TRACESTATE, rule->no_tracestate);
}

/* Take back what was added since the message had this length. */
static bool take_back(const struct control_message *message, __u32 length)
{
	message->header->nlmsg_len = length;
	return false;
}

static bool put_about(const struct control_message *message, const struct control_about *about)
{
	return !about || (put_flag(message, CONTROL_RULE_BUILTIN, about->builtin) &&
			  put(message, CONTROL_RULE_HITS, &about->hits, sizeof(about->hits)));
}

bool control_put_rule(struct control_message *message, const struct policy_rule *rule,
		      const struct control_about *about)
{
	__u32 before = message->header->nlmsg_len;
	struct nlattr *nest =
	    mnl_attr_nest_start_check(message->header, message->room, CONTROL_RULE);

	if (!nest)
		return false;
	if (rule->prio != POLICY_PRIO_UNSAID &&
	    !put(message, CONTROL_RULE_PRIO, &rule->prio, sizeof(rule->prio)))
		return take_back(message, before);
	if (!put_fits(message, rule) || !put_does(message, rule) || !put_about(message, about))
		return take_back(message, before);
	mnl_attr_nest_end(message->header, nest);
	return true;
}

bool control_put_set(struct control_message *message, const struct policy_set *set)
{
	__u32 before = message->header->nlmsg_len;
	struct nlattr *nest =
	    mnl_attr_nest_start_check(message->header, message->room, CONTROL_SET);

	if (!nest)
		return false;
	if (!put_text(message, CONTROL_SET_NAME, set->name))
		return take_back(message, before);
	for (size_t i = 0; i < set->count; i++)
		if (!put_prefix(message, CONTROL_SET_PREFIX, &set->prefixes[i]))
			return take_back(message, before);
	mnl_attr_nest_end(message->header, nest);
	return true;
}

static bool put_number(const struct control_message *message, __u16 type, __u64 number)
{
	return !number || put(message, type, &number, sizeof(number));
}

bool control_put_place(struct control_message *message, const struct control_place *place)
{
	__u32 before = message->header->nlmsg_len;
	struct nlattr *nest =
	    mnl_attr_nest_start_check(message->header, message->room, CONTROL_PLACE);

	if (!nest)
		return false;
	if (!put_text(message, CONTROL_PLACE_DEVICE, place->device) ||
	    !put_number(message, CONTROL_PLACE_NETNS, place->netns) ||
	    !put_flag(message, CONTROL_PLACE_FORCE, place->force))
		return take_back(message, before);
	mnl_attr_nest_end(message->header, nest);
	return true;
}

bool control_put_store(struct control_message *message, const struct control_store *store)
{
	__u32 before = message->header->nlmsg_len;
	struct nlattr *nest =
	    mnl_attr_nest_start_check(message->header, message->room, CONTROL_STORE);

	if (!nest)
		return false;
	if (!put_text(message, CONTROL_STORE_PATH, store->path) ||
	    !put_number(message, CONTROL_STORE_DEVICE, store->device) ||
	    !put_number(message, CONTROL_STORE_INODE, store->inode))
		return take_back(message, before);
	mnl_attr_nest_end(message->header, nest);
	return true;
}

bool control_put_left(struct control_message *message, __u32 left)
{
	return put(message, CONTROL_LEFT, &left, sizeof(left));
}
