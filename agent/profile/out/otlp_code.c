// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "profile/out/otlp_code.h"

typedef Perftools__Profiles__Profile Pprof;
typedef Perftools__Profiles__Line PprofLine;
typedef Opentelemetry__Proto__Profiles__V1development__Mapping OtlpMapping;
typedef Opentelemetry__Proto__Profiles__V1development__Location OtlpLocation;
typedef Opentelemetry__Proto__Profiles__V1development__Line OtlpLine;
typedef Opentelemetry__Proto__Profiles__V1development__Function OtlpFunction;

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

struct otlp_code *otlp_code_new(struct otlp_dictionary *dictionary, const struct message *message)
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

int32_t otlp_location(struct otlp_code *code, __u64 id)
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

int otlp_code_finish(struct otlp_code *code, OtlpDictionary *message)
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
