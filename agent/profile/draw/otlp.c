// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/unique.h"
#include "opentelemetry/proto/profiles/v1development/profiles.pb-c.h"
#include "profile/draw/otlp.h"
#include "profile/message/message.h"
#include "profile/message/path.h"

typedef Opentelemetry__Proto__Profiles__V1development__ProfilesData OtlpData;
typedef Opentelemetry__Proto__Profiles__V1development__ProfilesDictionary OtlpDictionary;
typedef Opentelemetry__Proto__Profiles__V1development__ResourceProfiles OtlpResourceProfiles;
typedef Opentelemetry__Proto__Profiles__V1development__ScopeProfiles OtlpScopeProfiles;
typedef Opentelemetry__Proto__Profiles__V1development__Profile OtlpProfile;
typedef Opentelemetry__Proto__Profiles__V1development__Sample OtlpSample;
typedef Opentelemetry__Proto__Profiles__V1development__ValueType OtlpValueType;

typedef Perftools__Profiles__Profile Pprof;
typedef Perftools__Profiles__Line PprofLine;
typedef Opentelemetry__Proto__Profiles__V1development__Mapping OtlpMapping;
typedef Opentelemetry__Proto__Profiles__V1development__Location OtlpLocation;
typedef Opentelemetry__Proto__Profiles__V1development__Line OtlpLine;
typedef Opentelemetry__Proto__Profiles__V1development__Function OtlpFunction;

#define TRACE_ID 16
#define SPAN_ID  8

typedef Perftools__Profiles__Sample PprofSample;
typedef Perftools__Profiles__Label Label;
typedef Opentelemetry__Proto__Profiles__V1development__Link OtlpLink;
typedef Opentelemetry__Proto__Profiles__V1development__Stack OtlpStack;
typedef Opentelemetry__Proto__Profiles__V1development__KeyValueAndUnit OtlpAttribute;
typedef Opentelemetry__Proto__Common__V1__AnyValue OtlpValue;

/*
 * A table that grows while samples are added: each entry once, by a text that tells it from others;
 * number 0, the empty text, is the zero value.
 */
struct table {
	struct unique keys;
	void **entry; /* by number; number 0 is made at the end */
	size_t room;
};

struct otlp_dictionary {
	const struct message *message;
	struct arena arena;
	struct unique strings;
	struct table links, stacks, attributes;
	struct otlp_code *code;
	bool failed; /* there was no memory */
};

/* What semantic conventions have a name for. */
static const struct {
	const char *label, *attribute;
	bool number; /* although pprof has it as a text */
} conventions[] = {
    {"service", "service.name", false},
    {"process", "process.executable.name", false},
    {"pid", "process.pid", false},
    {"status", "http.response.status_code", true},
};

/* Memory that lives as long as the dictionary, all zero. NULL: no memory. */
static void *otlp_take(struct otlp_dictionary *dictionary, size_t size)
{
	void *memory = arena_alloc(&dictionary->arena, size ? size : 1);

	dictionary->failed = dictionary->failed || !memory;
	return memory;
}

static int32_t text(struct otlp_dictionary *dictionary, const char *words)
{
	long number = strings_add(&dictionary->strings, words);

	dictionary->failed = dictionary->failed || number < 0;
	return number < 0 ? 0 : (int32_t)number;
}

static char *copy(struct otlp_dictionary *dictionary, const char *words)
{
	const size_t size = strlen(words) + 1;
	char *kept = otlp_take(dictionary, size);

	dictionary->failed = dictionary->failed || !kept;
	return kept ? memcpy(kept, words, size) : NULL;
}

/* The number of a text of the message in the table of texts; 0, and a failure, if there is no
 * memory. */
static int32_t otlp_text(struct otlp_dictionary *dictionary, __s64 number)
{
	return text(dictionary, message_text(dictionary->message, number));
}

/* A table: entries get their numbers when they are met; number 0 is the zero value. */
struct numbered {
	int32_t *number; /* by the id in the message; 0: not met yet */
	void **entry;
	size_t count;
};

struct otlp_code {
	struct otlp_dictionary *dictionary;
	const Pprof *pprof;
	struct numbered mappings, locations, functions;
};

/* Returns whether there was memory. */
static bool make_table(struct otlp_dictionary *dictionary, struct numbered *table, size_t count)
{
	table->number = otlp_take(dictionary, (count + 1) * sizeof(*table->number));
	table->entry = otlp_take(dictionary, (count + 1) * sizeof(void *));
	return table->number && table->entry;
}

/* Both outlive it; it lives as long as the dictionary. NULL: no memory. */
static struct otlp_code *otlp_code_new(struct otlp_dictionary *dictionary,
				       const struct message *message)
{
	struct otlp_code *code = otlp_take(dictionary, sizeof(*code));
	const Pprof *pprof = message->profile;

	if (!code)
		return NULL;
	code->dictionary = dictionary;
	code->pprof = pprof;
	return make_table(dictionary, &code->mappings, pprof->n_mapping) &&
		       make_table(dictionary, &code->locations, pprof->n_location) &&
		       make_table(dictionary, &code->functions, pprof->n_function)
		   ? code
		   : NULL;
}

/* Give a number to what has none, and take memory for it; NULL: it has one, or there is no memory.
 */
static void *meet(struct otlp_code *code, struct numbered *table, __u64 id, size_t size)
{
	if (table->number[id])
		return NULL;
	table->number[id] = (int32_t)++table->count;
	table->entry[table->count] = otlp_take(code->dictionary, size);
	return table->entry[table->count];
}

static int32_t mapping_of(struct otlp_code *code, __u64 id)
{
	const Perftools__Profiles__Mapping *from = id ? code->pprof->mapping[id - 1] : NULL;
	OtlpMapping *mapping = from ? meet(code, &code->mappings, id, sizeof(*mapping)) : NULL;

	if (mapping) {
		opentelemetry__proto__profiles__v1development__mapping__init(mapping);
		mapping->memory_start = from->memory_start;
		mapping->memory_limit = from->memory_limit;
		mapping->file_offset = from->file_offset;
		mapping->filename_strindex = otlp_text(code->dictionary, from->filename);
	}
	return code->mappings.number[id];
}

static int32_t function_of(struct otlp_code *code, __u64 id)
{
	const Perftools__Profiles__Function *from = code->pprof->function[id - 1];
	OtlpFunction *function = meet(code, &code->functions, id, sizeof(*function));

	if (function) {
		opentelemetry__proto__profiles__v1development__function__init(function);
		function->name_strindex = otlp_text(code->dictionary, from->name);
		function->system_name_strindex = otlp_text(code->dictionary, from->system_name);
		function->filename_strindex = otlp_text(code->dictionary, from->filename);
		function->start_line = from->start_line;
	}
	return code->functions.number[id];
}

static OtlpLine *line_message(struct otlp_code *code, const PprofLine *from)
{
	OtlpLine *line = otlp_take(code->dictionary, sizeof(*line));

	if (!line)
		return NULL;
	opentelemetry__proto__profiles__v1development__line__init(line);
	line->function_index = function_of(code, from->function_id);
	line->line = from->line;
	line->column = from->column;
	return line;
}

/* The number of a location of the message, whose id is `location`, in OTLP's table. */
static int32_t otlp_location(struct otlp_code *code, __u64 id)
{
	const Perftools__Profiles__Location *from = code->pprof->location[id - 1];
	OtlpLocation *location = meet(code, &code->locations, id, sizeof(*location));

	if (!location)
		return code->locations.number[id];
	opentelemetry__proto__profiles__v1development__location__init(location);
	location->mapping_index = mapping_of(code, from->mapping_id);
	location->address = from->address;
	location->lines = otlp_take(code->dictionary, from->n_line * sizeof(OtlpLine *));
	for (size_t i = 0; location->lines && i < from->n_line; i++) {
		location->lines[i] = line_message(code, from->line[i]);
		location->n_lines += location->lines[i] != NULL;
	}
	return code->locations.number[id];
}

/* Complete the tables, when all samples were added; 0 or -ENOMEM. */
static int otlp_code_finish(struct otlp_code *code, OtlpDictionary *message)
{
	OtlpMapping *mapping = otlp_take(code->dictionary, sizeof(*mapping));
	OtlpLocation *location = otlp_take(code->dictionary, sizeof(*location));
	OtlpFunction *function = otlp_take(code->dictionary, sizeof(*function));

	if (!mapping || !location || !function)
		return -ENOMEM;
	opentelemetry__proto__profiles__v1development__mapping__init(mapping);
	opentelemetry__proto__profiles__v1development__location__init(location);
	opentelemetry__proto__profiles__v1development__function__init(function);
	code->mappings.entry[0] = mapping;
	code->locations.entry[0] = location;
	code->functions.entry[0] = function;
	message->mapping_table = (OtlpMapping **)code->mappings.entry;
	message->location_table = (OtlpLocation **)code->locations.entry;
	message->function_table = (OtlpFunction **)code->functions.entry;
	message->n_mapping_table = code->mappings.count + 1;
	message->n_location_table = code->locations.count + 1;
	message->n_function_table = code->functions.count + 1;
	return 0;
}
/*
 * The number of an entry, and where it is to be put if it is new (else NULL). The key is not empty.
 */
static int32_t enter(struct otlp_dictionary *dictionary, struct table *table, const char *key,
		     void ***ret_entry)
{
	const size_t before = table->keys.count;
	long number = key ? strings_add(&table->keys, key) : -1;
	void **more;

	*ret_entry = NULL;
	if (number > 0 && table->keys.room > table->room) {
		more = reallocarray(table->entry, table->keys.room, sizeof(*more));
		table->entry = more ? more : table->entry;
		table->room = more ? table->keys.room : table->room;
	}
	if (number < 0 || (size_t)number >= table->room) {
		dictionary->failed = true;
		return 0;
	}
	if (table->keys.count != before)
		*ret_entry = &table->entry[number];
	return (int32_t)number;
}

/* Parts of a profile, by the numbers of the tables, to which they are added. NULL: no memory. */
static OtlpValueType *otlp_value_type(struct otlp_dictionary *dictionary,
				      const Perftools__Profiles__ValueType *type)
{
	OtlpValueType *value = otlp_take(dictionary, sizeof(*value));

	if (!value)
		return NULL;
	opentelemetry__proto__profiles__v1development__value_type__init(value);
	value->type_strindex = otlp_text(dictionary, type->type);
	value->unit_strindex = otlp_text(dictionary, type->unit);
	return value;
}

static OtlpStack *stack_message(struct otlp_dictionary *dictionary, const PprofSample *sample)
{
	OtlpStack *stack = otlp_take(dictionary, sizeof(*stack));

	if (!stack)
		return NULL;
	opentelemetry__proto__profiles__v1development__stack__init(stack);
	stack->location_indices =
	    otlp_take(dictionary, sample->n_location_id * sizeof(*stack->location_indices));
	if (!stack->location_indices)
		return stack;
	stack->n_location_indices = sample->n_location_id;
	for (size_t i = 0; i < sample->n_location_id; i++)
		stack->location_indices[i] =
		    otlp_location(dictionary->code, sample->location_id[i]);
	return stack;
}

/* Number 0 is the stack without frames. */
static int32_t stack_of(struct otlp_dictionary *dictionary, const PprofSample *sample)
{
	struct buffer key = {};
	int32_t number = 0;
	void **entry;

	for (size_t i = 0; i < sample->n_location_id; i++)
		buffer_printf(&key, "%llx ", (unsigned long long)sample->location_id[i]);
	if (sample->n_location_id) {
		number =
		    enter(dictionary, &dictionary->stacks, key.failed ? NULL : key.text, &entry);
		if (entry)
			*entry = stack_message(dictionary, sample);
	}
	buffer_free(&key);
	return number;
}

/* The bytes of an id; NULL: it is none, or all zero. */
static __u8 *id_of(struct otlp_dictionary *dictionary, const char *digits, size_t size)
{
	__u8 *id;

	if (strlen(digits) != 2 * size || strspn(digits, "0123456789abcdef") != 2 * size ||
	    strspn(digits, "0") == 2 * size)
		return NULL;
	id = otlp_take(dictionary, size);
	for (size_t i = 0; id && i < size; i++) {
		const char byte[] = {digits[2 * i], digits[2 * i + 1], '\0'};

		id[i] = (__u8)strtoul(byte, NULL, 16);
	}
	return id;
}

static OtlpLink *link_message(struct otlp_dictionary *dictionary, __u8 *trace, __u8 *span)
{
	OtlpLink *link = otlp_take(dictionary, sizeof(*link));

	if (!link)
		return NULL;
	opentelemetry__proto__profiles__v1development__link__init(link);
	link->trace_id = (ProtobufCBinaryData){TRACE_ID, trace};
	link->span_id = (ProtobufCBinaryData){SPAN_ID, span};
	return link;
}

/* Of a sample of which both ids are known; else none. */
static int32_t link_of(struct otlp_dictionary *dictionary, const PprofSample *sample)
{
	const char *trace = message_label(dictionary->message, sample, "trace_id");
	const char *span = message_label(dictionary->message, sample, "span_id");
	__u8 *trace_id = id_of(dictionary, trace, TRACE_ID);
	__u8 *span_id = id_of(dictionary, span, SPAN_ID);
	char key[HEX_TRACE + HEX_SPAN];
	int32_t number;
	void **entry;

	if (!trace_id || !span_id)
		return 0;
	snprintf(key, sizeof(key), "%s %s", trace, span);
	number = enter(dictionary, &dictionary->links, key, &entry);
	if (entry)
		*entry = link_message(dictionary, trace_id, span_id);
	return number;
}

static void set_value(struct otlp_dictionary *dictionary, OtlpValue *value, const Label *label,
		      bool number)
{
	const char *words = message_text(dictionary->message, label->str);
	char *end = NULL;
	const long digits = number ? strtol(words, &end, 10) : 0;

	if (!label->str || (number && end != words && !*end)) {
		value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE;
		value->int_value = label->str ? digits : label->num;
		return;
	}
	value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = copy(dictionary, words);
}

static OtlpAttribute *attribute_message(struct otlp_dictionary *dictionary, const Label *label,
					const char *name, bool number)
{
	OtlpAttribute *attribute = otlp_take(dictionary, sizeof(*attribute));
	OtlpValue *value = otlp_take(dictionary, sizeof(*value));

	if (!attribute || !value)
		return NULL;
	opentelemetry__proto__profiles__v1development__key_value_and_unit__init(attribute);
	opentelemetry__proto__common__v1__any_value__init(value);
	set_value(dictionary, value, label, number);
	attribute->key_strindex = text(dictionary, name);
	attribute->value = value;
	attribute->unit_strindex = otlp_text(dictionary, label->num_unit);
	return attribute;
}

static int32_t attribute_of(struct otlp_dictionary *dictionary, const Label *label)
{
	const char *name = message_text(dictionary->message, label->key);
	_cleanup_free_ char *key = NULL;
	bool number = false;
	int32_t found;
	void **entry;

	for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) {
		if (strcmp(name, conventions[i].label) != 0)
			continue;
		name = conventions[i].attribute;
		number = conventions[i].number;
		break;
	}
	if (asprintf(&key, "%lld %lld %lld %lld", (long long)label->key, (long long)label->str,
		     (long long)label->num, (long long)label->num_unit) < 0)
		key = NULL;
	found = enter(dictionary, &dictionary->attributes, key, &entry);
	if (entry)
		*entry = attribute_message(dictionary, label, name, number);
	return found;
}

/* Of these there may be one for each request: they are links. */
static bool is_id(const struct otlp_dictionary *dictionary, const Label *label)
{
	const char *key = message_text(dictionary->message, label->key);

	return !strcmp(key, "trace_id") || !strcmp(key, "span_id");
}

/* Is there one of the same key before it? Keys of attributes must be unique. */
static bool is_repeated(const struct message *message, const PprofSample *sample, size_t number)
{
	const char *key = message_text(message, sample->label[number]->key);

	for (size_t i = 0; i < number; i++)
		if (!strcmp(message_text(message, sample->label[i]->key), key))
			return true;
	return false;
}

static void add_attributes(struct otlp_dictionary *dictionary, const PprofSample *from,
			   OtlpSample *sample)
{
	sample->attribute_indices =
	    otlp_take(dictionary, from->n_label * sizeof(*sample->attribute_indices));
	for (size_t i = 0; sample->attribute_indices && i < from->n_label; i++)
		if (!is_id(dictionary, from->label[i]) &&
		    !is_repeated(dictionary->message, from, i))
			sample->attribute_indices[sample->n_attribute_indices++] =
			    attribute_of(dictionary, from->label[i]);
}

static OtlpSample *otlp_sample(struct otlp_dictionary *dictionary, const PprofSample *from,
			       __s64 value)
{
	OtlpSample *sample = otlp_take(dictionary, sizeof(*sample));
	int64_t *values = otlp_take(dictionary, sizeof(*values));

	if (!sample || !values)
		return NULL;
	opentelemetry__proto__profiles__v1development__sample__init(sample);
	*values = value;
	sample->n_values = 1;
	sample->values = values;
	sample->stack_index = stack_of(dictionary, from);
	sample->link_index = link_of(dictionary, from);
	add_attributes(dictionary, from, sample);
	return sample;
}

/* The entries of a table, and the zero value as the first one. Returns how many there are. */
static size_t finish(struct otlp_dictionary *dictionary, struct table *table, size_t size,
		     void (*init)(void *entry), void ***ret_entries)
{
	const size_t count = table->keys.count ? table->keys.count : 1;
	void **entries = otlp_take(dictionary, count * sizeof(*entries));
	void *zero = otlp_take(dictionary, size);

	if (!entries || !zero)
		return 0;
	init(zero);
	entries[0] = zero;
	for (size_t i = 1; i < count; i++)
		entries[i] = table->entry[i];
	*ret_entries = entries;
	return count;
}

static void init_link(void *entry)
{
	opentelemetry__proto__profiles__v1development__link__init(entry);
}

static void init_stack(void *entry)
{
	opentelemetry__proto__profiles__v1development__stack__init(entry);
}

static void init_attribute(void *entry)
{
	opentelemetry__proto__profiles__v1development__key_value_and_unit__init(entry);
}

/*
 * The tables, when all samples were added, as long as the dictionary lives. NULL: there was no
 * memory for one of the parts.
 */
static OtlpDictionary *otlp_dictionary_message(struct otlp_dictionary *dictionary)
{
	OtlpDictionary *message = otlp_take(dictionary, sizeof(*message));

	if (!message)
		return NULL;
	opentelemetry__proto__profiles__v1development__profiles_dictionary__init(message);
	if (otlp_code_finish(dictionary->code, message))
		return NULL;
	message->n_link_table = finish(dictionary, &dictionary->links, sizeof(OtlpLink), init_link,
				       (void ***)&message->link_table);
	message->n_stack_table = finish(dictionary, &dictionary->stacks, sizeof(OtlpStack),
					init_stack, (void ***)&message->stack_table);
	message->n_attribute_table =
	    finish(dictionary, &dictionary->attributes, sizeof(OtlpAttribute), init_attribute,
		   (void ***)&message->attribute_table);
	message->n_string_table = dictionary->strings.count;
	message->string_table = dictionary->strings.text;
	return dictionary->failed ? NULL : message;
}

static void free_table(struct table *table)
{
	unique_free_all(&table->keys);
	free(table->entry);
}

static void otlp_dictionary_free(struct otlp_dictionary *dictionary)
{
	free_table(&dictionary->links);
	free_table(&dictionary->stacks);
	free_table(&dictionary->attributes);
	unique_free_all(&dictionary->strings);
	arena_free(&dictionary->arena);
	free(dictionary);
}

#define PROFILE_ID 16

typedef Perftools__Profiles__Profile Pprof;
typedef Perftools__Profiles__Sample PprofSample;

/* The message outlives it. NULL: no memory. */
static struct otlp_dictionary *otlp_dictionary_new(const struct message *message)
{
	struct otlp_dictionary *dictionary = calloc(1, sizeof(*dictionary));

	if (!dictionary)
		return NULL;
	dictionary->message = message;
	dictionary->code = otlp_code_new(dictionary, message);
	if (dictionary->code && strings_add(&dictionary->strings, "") >= 0)
		return dictionary;
	otlp_dictionary_free(dictionary);
	return NULL;
}

/* The profile of one type of values. */
struct typed {
	struct otlp_dictionary *dictionary;
	const struct message *message;
	size_t type;
};

static void add_samples(const struct typed *typed, OtlpProfile *profile)
{
	const Pprof *pprof = typed->message->profile;

	profile->samples = otlp_take(typed->dictionary, pprof->n_sample * sizeof(OtlpSample *));
	for (size_t i = 0; profile->samples && i < pprof->n_sample; i++) {
		OtlpSample *sample;

		if (!pprof->sample[i]->value[typed->type])
			continue;
		sample = otlp_sample(typed->dictionary, pprof->sample[i],
				     pprof->sample[i]->value[typed->type]);
		if (!sample)
			return;
		profile->samples[profile->n_samples++] = sample;
	}
}

static void add_id(const struct typed *typed, OtlpProfile *profile)
{
	__u8 *id = otlp_take(typed->dictionary, PROFILE_ID);

	/* A profile without an id is allowed, one with an incomplete id is not. */
	if (!id || getrandom(id, PROFILE_ID, 0) != PROFILE_ID)
		return;
	profile->profile_id.data = id;
	profile->profile_id.len = PROFILE_ID;
}

static OtlpProfile *profile_of(const struct typed *typed)
{
	const Pprof *pprof = typed->message->profile;
	OtlpProfile *profile = otlp_take(typed->dictionary, sizeof(*profile));

	if (!profile)
		return NULL;
	opentelemetry__proto__profiles__v1development__profile__init(profile);
	profile->sample_type = otlp_value_type(typed->dictionary, pprof->sample_type[typed->type]);
	if (pprof->period_type)
		profile->period_type = otlp_value_type(typed->dictionary, pprof->period_type);
	profile->period = pprof->period;
	profile->time_unix_nano = (uint64_t)pprof->time_nanos;
	profile->duration_nano = (uint64_t)pprof->duration_nanos;
	add_id(typed, profile);
	add_samples(typed, profile);
	return profile;
}

/* The default one comes first: it is the one that is shown. */
static void add_profiles(struct otlp_dictionary *dictionary, const struct message *message,
			 OtlpScopeProfiles *scope)
{
	const size_t count = message->profile->n_sample_type;
	const size_t first = message_default_type(message);

	scope->profiles = otlp_take(dictionary, count * sizeof(OtlpProfile *));
	for (size_t i = 0; scope->profiles && i < count; i++) {
		const struct typed typed = {dictionary, message, i == 0 ? first : i - (i <= first)};

		scope->profiles[scope->n_profiles] = profile_of(&typed);
		scope->n_profiles += scope->profiles[scope->n_profiles] != NULL;
	}
}

static int write_packed(const OtlpData *data, FILE *out)
{
	size_t size =
	    opentelemetry__proto__profiles__v1development__profiles_data__get_packed_size(data);
	_cleanup_free_ __u8 *bytes = malloc(size ? size : 1);

	if (!bytes)
		return -ENOMEM;
	opentelemetry__proto__profiles__v1development__profiles_data__pack(data, bytes);
	return fwrite(bytes, 1, size, out) == size ? 0 : -EIO;
}

int otlp_profile_write(const struct message *message, FILE *out)
{
	OtlpData data = OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__PROFILES_DATA__INIT;
	OtlpResourceProfiles resource =
	    OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__RESOURCE_PROFILES__INIT;
	OtlpScopeProfiles scope =
	    OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__SCOPE_PROFILES__INIT;
	Opentelemetry__Proto__Common__V1__InstrumentationScope ours =
	    OPENTELEMETRY__PROTO__COMMON__V1__INSTRUMENTATION_SCOPE__INIT;
	OtlpResourceProfiles *resources = &resource;
	OtlpScopeProfiles *scopes = &scope;
	struct otlp_dictionary *dictionary = otlp_dictionary_new(message);
	int err = -ENOMEM;

	if (!dictionary)
		return -ENOMEM;
	ours.name = "ctxprop";
	ours.version = CTXPROP_VERSION;
	scope.scope = &ours;
	add_profiles(dictionary, message, &scope);
	resource.n_scope_profiles = 1;
	resource.scope_profiles = &scopes;
	data.n_resource_profiles = 1;
	data.resource_profiles = &resources;
	data.dictionary = otlp_dictionary_message(dictionary);
	if (data.dictionary)
		err = write_packed(&data, out);
	otlp_dictionary_free(dictionary);
	return err;
}
