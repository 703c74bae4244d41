// SPDX-License-Identifier: Apache-2.0
/* First writing, from rules and sets to attributes; then reading, from attributes that anybody may
 * have made. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "control/attributes.h"
#include "control/codec.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/policy_text.h"
#include "control/prefix.h"

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

static const struct attribute message_rows[] = {
    [CONTROL_RULE] = {"rule", ATTRIBUTE_NESTED, 0, true},
    [CONTROL_SET] = {"set", ATTRIBUTE_NESTED, 0, true},
    [CONTROL_PLACE] = {"place", ATTRIBUTE_NESTED, 0, false},
    [CONTROL_LEFT] = {"left", ATTRIBUTE_FIXED, 4, false},
    [CONTROL_STORE] = {"store", ATTRIBUTE_NESTED, 0, false},
};

static const struct attribute rule_rows[] = {
    [CONTROL_RULE_PRIO] = {"prio", ATTRIBUTE_FIXED, 4, false},
    [CONTROL_RULE_DIR] = {"dir", ATTRIBUTE_FIXED, 1, false},
    [CONTROL_RULE_ACTION] = {"action", ATTRIBUTE_FIXED, 1, false},
    [CONTROL_RULE_FROM] = {"from", ATTRIBUTE_NESTED, 0, false},
    [CONTROL_RULE_TO] = {"to", ATTRIBUTE_NESTED, 0, false},
    [CONTROL_RULE_PORTS] = {"port", ATTRIBUTE_FIXED, 4, true},
    [CONTROL_RULE_DEVICE] = {"dev", ATTRIBUTE_TEXT, POLICY_DEVICE_SIZE, false},
    [CONTROL_RULE_CGROUP] = {"cgroup", ATTRIBUTE_TEXT, POLICY_CGROUP_SIZE, false},
    [CONTROL_RULE_HOST] = {"host", ATTRIBUTE_TEXT, POLICY_HOST_SIZE, false},
    [CONTROL_RULE_SAMPLE] = {"sample", ATTRIBUTE_FIXED, 4, false},
    [CONTROL_RULE_NO_ROOT] = {"root no", ATTRIBUTE_FLAG, 0, false},
    [CONTROL_RULE_NO_TRACESTATE] = {"tracestate no", ATTRIBUTE_FLAG, 0, false},
    [CONTROL_RULE_BUILTIN] = {"built-in", ATTRIBUTE_FLAG, 0, false},
    [CONTROL_RULE_HITS] = {"hits", ATTRIBUTE_FIXED, 8, false},
};

static const struct attribute end_rows[] = {
    [CONTROL_END_PREFIX] = {"network", ATTRIBUTE_FIXED, sizeof(struct control_prefix), false},
    [CONTROL_END_SET] = {"set", ATTRIBUTE_TEXT, POLICY_NAME_SIZE, false},
    [CONTROL_END_NEGATED] = {"not", ATTRIBUTE_FLAG, 0, false},
};

static const struct attribute place_rows[] = {
    [CONTROL_PLACE_DEVICE] = {"dev", ATTRIBUTE_TEXT, POLICY_DEVICE_SIZE, false},
    [CONTROL_PLACE_NETNS] = {"netns", ATTRIBUTE_FIXED, 8, false},
    [CONTROL_PLACE_FORCE] = {"force", ATTRIBUTE_FLAG, 0, false},
};

static const struct attribute store_rows[] = {
    [CONTROL_STORE_PATH] = {"path", ATTRIBUTE_TEXT, PATH_MAX, false},
    [CONTROL_STORE_DEVICE] = {"device", ATTRIBUTE_FIXED, 8, false},
    [CONTROL_STORE_INODE] = {"inode", ATTRIBUTE_FIXED, 8, false},
};

static const struct attribute set_rows[] = {
    [CONTROL_SET_NAME] = {"name", ATTRIBUTE_TEXT, POLICY_NAME_SIZE, false},
    [CONTROL_SET_PREFIX] = {"network", ATTRIBUTE_FIXED, sizeof(struct control_prefix), true},
};

#define TABLE(rows)                                                                                \
	&(const struct attribute_table)                                                            \
	{                                                                                          \
		(rows), sizeof(rows) / sizeof((rows)[0])                                           \
	}

/* What the visits of one level of attributes carry along. */
struct reading {
	struct policy_error *error;
	struct policy_rule *rule;
	struct policy_end *end;
	struct policy_set *set;
	struct control_place *place;
	struct control_store *store;
	struct control_about about;
};

static int read_nested(const struct nlattr *attribute, const struct attribute_table *table,
		       int (*visit)(const struct nlattr *, void *), struct reading *reading)
{
	return attributes_each(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute),
			       table, visit, reading, reading->error);
}

static int read_prefix(const struct nlattr *attribute, struct policy_prefix *ret,
		       struct policy_error *error)
{
	struct control_prefix wire;

	memcpy(&wire, mnl_attr_get_payload(attribute), sizeof(wire));
	*ret = (struct policy_prefix){.bits = wire.bits};
	memcpy(ret->address, wire.address, sizeof(ret->address));
	if (!prefix_is_sound(ret) || wire.reserved[0] || wire.reserved[1] || wire.reserved[2])
		return policy_fail(error, -EINVAL, "attribute 'network' is none");
	return 0;
}

static int visit_end(const struct nlattr *attribute, void *data)
{
	struct reading *reading = data;
	struct policy_end *end = reading->end;

	switch (mnl_attr_get_type(attribute)) {
	case CONTROL_END_PREFIX:
		end->kind = POLICY_PREFIX;
		return read_prefix(attribute, &end->prefix, reading->error);
	case CONTROL_END_SET:
		end->kind = POLICY_SET;
		text_copy(end->set, sizeof(end->set), mnl_attr_get_str(attribute));
		return 0;
	default:
		end->negated = true;
		return 0;
	}
}

static int read_end(const struct nlattr *attribute, struct policy_end *end, struct reading *reading)
{
	reading->end = end;
	return read_nested(attribute, TABLE(end_rows), visit_end, reading);
}

/* All ports, as one range, are the same as none. */
static int read_ports(const struct nlattr *attribute, struct policy_rule *rule,
		      struct policy_error *error)
{
	__u16 ports[2];

	memcpy(ports, mnl_attr_get_payload(attribute), sizeof(ports));
	if (!ports[0] && ports[1] == 65535)
		return 0;
	if (rule->port_count == POLICY_PORTS_MAX)
		return policy_fail(error, -E2BIG, "a rule names no more than %d ranges of ports",
				   POLICY_PORTS_MAX);
	rule->ports[rule->port_count++] = (struct policy_ports){ports[0], ports[1]};
	return 0;
}

static int visit_rule(const struct nlattr *attribute, void *data)
{
	struct reading *reading = data;
	struct policy_rule *rule = reading->rule;

	switch (mnl_attr_get_type(attribute)) {
	case CONTROL_RULE_PRIO:
		rule->prio = mnl_attr_get_u32(attribute);
		break;
	case CONTROL_RULE_DIR:
		rule->dir = mnl_attr_get_u8(attribute);
		break;
	case CONTROL_RULE_ACTION:
		rule->action = mnl_attr_get_u8(attribute);
		break;
	case CONTROL_RULE_FROM:
		return read_end(attribute, &rule->from, reading);
	case CONTROL_RULE_TO:
		return read_end(attribute, &rule->to, reading);
	case CONTROL_RULE_PORTS:
		return read_ports(attribute, rule, reading->error);
	case CONTROL_RULE_DEVICE:
		text_copy(rule->device, sizeof(rule->device), mnl_attr_get_str(attribute));
		break;
	case CONTROL_RULE_CGROUP:
		text_copy(rule->cgroup, sizeof(rule->cgroup), mnl_attr_get_str(attribute));
		break;
	case CONTROL_RULE_HOST:
		text_copy(rule->host, sizeof(rule->host), mnl_attr_get_str(attribute));
		break;
	case CONTROL_RULE_SAMPLE:
		rule->sample = mnl_attr_get_u32(attribute);
		break;
	case CONTROL_RULE_NO_ROOT:
		rule->no_root = true;
		break;
	case CONTROL_RULE_NO_TRACESTATE:
		rule->no_tracestate = true;
		break;
	case CONTROL_RULE_BUILTIN:
		reading->about.builtin = true;
		break;
	case CONTROL_RULE_HITS:
		reading->about.hits = mnl_attr_get_u64(attribute);
		break;
	}
	return 0;
}

static int read_rule(const struct nlattr *attribute, const struct control_visitor *visitor)
{
	struct policy_rule rule;
	struct reading reading = {.error = visitor->error, .rule = &rule};
	int err;

	policy_rule_init(&rule);
	rule.prio = POLICY_PRIO_UNSAID;
	err = read_nested(attribute, TABLE(rule_rows), visit_rule, &reading);
	if (!err && !rule_is_text(&rule))
		err = policy_fail(visitor->error, -EINVAL, "a rule that no text could say");
	return err ? err : visitor->on_rule(&rule, &reading.about, visitor->data);
}

static int visit_set(const struct nlattr *attribute, void *data)
{
	struct reading *reading = data;
	struct policy_set *set = reading->set;

	if (mnl_attr_get_type(attribute) == CONTROL_SET_NAME) {
		text_copy(set->name, sizeof(set->name), mnl_attr_get_str(attribute));
		return 0;
	}
	if (set->count == POLICY_PREFIXES_MAX)
		return policy_fail(reading->error, -E2BIG, "a set has no more than %d networks",
				   POLICY_PREFIXES_MAX);
	return read_prefix(attribute, &set->prefixes[set->count++], reading->error);
}

static int read_set(const struct nlattr *attribute, const struct control_visitor *visitor)
{
	static struct policy_prefix prefixes[POLICY_PREFIXES_MAX]; /* too many for the stack */
	struct policy_set set = {.prefixes = prefixes};
	struct reading reading = {.error = visitor->error, .set = &set};
	int err = read_nested(attribute, TABLE(set_rows), visit_set, &reading);

	if (!err && !policy_is_set_name(set.name))
		err = policy_fail(visitor->error, -EINVAL, "a set without a proper name");
	return err ? err : visitor->on_set(&set, visitor->data);
}

static int visit_place(const struct nlattr *attribute, void *data)
{
	struct reading *reading = data;
	struct control_place *place = reading->place;

	switch (mnl_attr_get_type(attribute)) {
	case CONTROL_PLACE_DEVICE:
		text_copy(place->device, sizeof(place->device), mnl_attr_get_str(attribute));
		break;
	case CONTROL_PLACE_NETNS:
		place->netns = mnl_attr_get_u64(attribute);
		break;
	case CONTROL_PLACE_FORCE:
		place->force = true;
		break;
	}
	return 0;
}

static int read_place(const struct nlattr *attribute, const struct control_visitor *visitor)
{
	struct control_place place = {};
	struct reading reading = {.error = visitor->error, .place = &place};
	int err = read_nested(attribute, TABLE(place_rows), visit_place, &reading);

	return err ? err : visitor->on_place(&place, visitor->data);
}

static int visit_store(const struct nlattr *attribute, void *data)
{
	struct reading *reading = data;
	struct control_store *store = reading->store;

	switch (mnl_attr_get_type(attribute)) {
	case CONTROL_STORE_PATH:
		text_copy(store->path, sizeof(store->path), mnl_attr_get_str(attribute));
		break;
	case CONTROL_STORE_DEVICE:
		store->device = mnl_attr_get_u64(attribute);
		break;
	case CONTROL_STORE_INODE:
		store->inode = mnl_attr_get_u64(attribute);
		break;
	}
	return 0;
}

static int read_store(const struct nlattr *attribute, const struct control_visitor *visitor)
{
	struct control_store store = {};
	struct reading reading = {.error = visitor->error, .store = &store};
	int err = read_nested(attribute, TABLE(store_rows), visit_store, &reading);

	if (!err && *store.path && *store.path != '/')
		err = policy_fail(visitor->error, -EINVAL, "a store at no absolute path");
	return err ? err : visitor->on_store(&store, visitor->data);
}

static int visit_message(const struct nlattr *attribute, void *data)
{
	const struct control_visitor *visitor = data;

	switch (mnl_attr_get_type(attribute)) {
	case CONTROL_RULE:
		if (visitor->on_rule)
			return read_rule(attribute, visitor);
		break;
	case CONTROL_SET:
		if (visitor->on_set)
			return read_set(attribute, visitor);
		break;
	case CONTROL_PLACE:
		if (visitor->on_place)
			return read_place(attribute, visitor);
		break;
	case CONTROL_LEFT:
		if (visitor->on_left)
			return visitor->on_left(mnl_attr_get_u32(attribute), visitor->data);
		break;
	case CONTROL_STORE:
		if (visitor->on_store)
			return read_store(attribute, visitor);
		break;
	}
	return policy_fail(visitor->error, -EINVAL,
			   "the message has a part that does not belong to it");
}

const struct nlmsghdr *control_next(const char **at, size_t *left)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)*at;
	size_t step;

	if (*left < sizeof(*header) || header->nlmsg_len < sizeof(*header) ||
	    header->nlmsg_len > *left)
		return NULL;
	step = NLMSG_ALIGN((size_t)header->nlmsg_len);
	step = step < *left ? step : *left;
	*at += step;
	*left -= step;
	return header;
}

int control_read(const struct nlmsghdr *header, const struct control_visitor *visitor)
{
	const struct control_header *family = mnl_nlmsg_get_payload(header);
	size_t size = mnl_nlmsg_get_payload_len(header),
	       before = MNL_ALIGN(sizeof(struct control_header));

	if (size < before)
		return policy_fail(visitor->error, -EINVAL, "the message is cut off");
	if (family->version != CONTROL_VERSION)
		return policy_fail(
		    visitor->error, -EPROTONOSUPPORT,
		    "the message has version %u of the protocol, this program version %d",
		    family->version, CONTROL_VERSION);
	return attributes_each((const char *)family + before, size - before, TABLE(message_rows),
			       visit_message, (void *)visitor, visitor->error);
}
