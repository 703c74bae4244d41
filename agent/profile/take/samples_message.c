// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/hex.h"
#include "base/unique.h"
#include "profile/message/counts.h"
#include "profile/message/pprof_types.h"
#include "profile/names/frame_names.h"
#include "profile/take/samples_message.h"
#include "profile/take/sources.h"
#include "profile/take/whole_stack.h"

#define LABELS_MAX   (14 + PROFILE_LABELS_MAX)
#define VALUES_MAX   3
#define NS_PER_CLOCK 1000000000LL

/* A message that is being made; its texts are the strings' until it is. */
struct writing {
	struct message message;
	struct unique strings, functions; /* functions: "LINE\nFILE\nNAME" */
	const struct frame_names *names;
	const struct labels *labels;
	struct requests *requests;
	const struct samples_message_options *options;
	__s64 period_ns;
	bool failed; /* there was no memory */
};

static void *take(struct writing *writing, size_t size)
{
	void *memory = arena_alloc(&writing->message.arena, size ? size : 1);

	writing->failed = writing->failed || !memory;
	return memory;
}

static int64_t text(struct writing *writing, const char *words)
{
	long number = strings_add(&writing->strings, words);

	writing->failed = writing->failed || number < 0;
	return number;
}

static ValueType *value_type(struct writing *writing, const char *type, const char *unit)
{
	ValueType *value = take(writing, sizeof(*value));

	if (!value)
		return NULL;
	perftools__profiles__value_type__init(value);
	value->type = text(writing, type);
	value->unit = text(writing, unit);
	return value;
}

static size_t count_values(const struct writing *writing)
{
	return writing->options->off_cpu ? VALUES_MAX : VALUES_MAX - 1;
}

static void add_types(struct writing *writing)
{
	Profile *profile = writing->message.profile;

	profile->n_sample_type = count_values(writing);
	profile->sample_type = take(writing, VALUES_MAX * sizeof(ValueType *));
	if (!profile->sample_type)
		return;
	profile->sample_type[0] = value_type(writing, "samples", "count");
	profile->sample_type[1] = value_type(writing, "cpu", "nanoseconds");
	profile->sample_type[2] = value_type(writing, "offcpu", "nanoseconds");
	profile->period_type = value_type(writing, "cpu", "nanoseconds");
	profile->period = writing->period_ns;
	profile->default_sample_type = text(writing, "cpu");
	profile->time_nanos = writing->options->from_ns;
	profile->duration_nanos = writing->options->duration_ns;
}

/* Files are mappings: the kernel is 1, what has no file 2, file N 3 + N. */
static uint64_t mapping_of(__u64 frame)
{
	if (frame & FRAME_KERNEL)
		return 1;
	return frame_is_named(frame) ? 2 : (uint64_t)(FRAME_FILE(frame) + 3);
}

static void add_mapping(struct writing *writing, size_t number, const char *name)
{
	Mapping *mapping = take(writing, sizeof(*mapping));

	if (!mapping)
		return;
	perftools__profiles__mapping__init(mapping);
	mapping->id = number + 1;
	mapping->filename = text(writing, name);
	mapping->has_functions = 1;
	writing->message.profile->mapping[number] = mapping;
}

static void add_mappings(struct writing *writing)
{
	size_t files = files_count(frame_names_files(writing->names));
	Profile *profile = writing->message.profile;

	profile->n_mapping = files + 2;
	profile->mapping = take(writing, (files + 2) * sizeof(Mapping *));
	if (!profile->mapping)
		return;
	add_mapping(writing, 0, "[kernel]");
	add_mapping(writing, 1, "[unknown]");
	for (size_t i = 0; i < files; i++)
		add_mapping(writing, i + 2, files_name(frame_names_files(writing->names), (int)i));
}

/* The function of a frame, by number from 1 on; 0: no memory. */
static uint64_t function_of(struct writing *writing, __u64 frame)
{
	_cleanup_free_ char *key = NULL;
	long number = -1;

	if (asprintf(&key, "%u\n%s\n%s", frame_names_line(writing->names, frame),
		     frame_names_file(writing->names, frame),
		     frame_names_get(writing->names, frame)) >= 0)
		number = strings_add(&writing->functions, key);
	else
		key = NULL;
	writing->failed = writing->failed || number < 0;
	return number < 0 ? 0 : (uint64_t)number;
}

static Location *location_of(struct writing *writing, size_t number)
{
	__u64 frame = frame_names_frame(writing->names, number);
	Location *location = take(writing, sizeof(*location));
	Line *line = take(writing, sizeof(*line));
	Line **lines = take(writing, sizeof(Line *));

	if (!location || !line || !lines)
		return NULL;
	perftools__profiles__line__init(line);
	line->function_id = function_of(writing, frame);
	lines[0] = line;
	perftools__profiles__location__init(location);
	location->id = number + 1;
	location->mapping_id = mapping_of(frame);
	location->address = frame & FRAME_KERNEL ? frame : (__u32)frame;
	location->n_line = 1;
	location->line = lines;
	return location;
}

static void add_locations(struct writing *writing)
{
	size_t count = frame_names_count(writing->names);
	Profile *profile = writing->message.profile;

	profile->location = take(writing, count * sizeof(Location *));
	for (size_t i = 0; !writing->failed && i < count; i++)
		profile->location[i] = location_of(writing, i);
	profile->n_location = count;
}

static Function *function_message(struct writing *writing, size_t number)
{
	/* It is taken apart; nothing is looked up in it any more. */
	char *name = writing->functions.text[number], *line = strsep(&name, "\n");
	const char *file = strsep(&name, "\n");
	Function *function = take(writing, sizeof(*function));

	if (!function)
		return NULL;
	perftools__profiles__function__init(function);
	function->id = number;
	function->name = text(writing, name);
	function->system_name = function->name;
	function->filename = text(writing, file);
	function->start_line = strtol(line, NULL, 10);
	return function;
}

/* All but number 0, the empty text. */
static void add_functions(struct writing *writing)
{
	size_t count = writing->functions.count ? writing->functions.count - 1 : 0;
	Profile *profile = writing->message.profile;

	profile->function = take(writing, count * sizeof(Function *));
	for (size_t i = 0; !writing->failed && i < count; i++)
		profile->function[i] = function_message(writing, i + 1);
	profile->n_function = count;
}

static Label *add_label(struct writing *writing, Sample *sample, const char *key)
{
	Label *label = take(writing, sizeof(*label));

	if (!label)
		return NULL;
	perftools__profiles__label__init(label);
	label->key = text(writing, key);
	sample->label[sample->n_label++] = label;
	return label;
}

static void label_text(struct writing *writing, Sample *sample, const char *key, const char *words)
{
	Label *label = *words ? add_label(writing, sample, key) : NULL;

	if (label)
		label->str = text(writing, words);
}

static void label_id(struct writing *writing, Sample *sample, const char *key, const __u8 *id,
		     size_t size)
{
	char words[HEX_TRACE];

	label_text(writing, sample, key, hex_text(words, id, size));
}

static void label_number(struct writing *writing, Sample *sample, const char *key, int64_t number,
			 const char *unit)
{
	Label *label = add_label(writing, sample, key);

	if (!label)
		return;
	label->num = number;
	label->num_unit = text(writing, unit);
}

/* How a request ended, if it has. */
static void add_end(struct writing *writing, Sample *sample, const struct profiled_request *request)
{
	char status[16];

	if (!request->duration_ns)
		return;
	snprintf(status, sizeof(status), "%u", request->status);
	label_text(writing, sample, "status", request->status ? status : "");
	label_number(writing, sample, "latency_ms", request->duration_ns / 1000000, "milliseconds");
	label_text(writing, sample, "latency_bucket", latency_name(request->latency));
}

static void add_request(struct writing *writing, Sample *sample, const struct stack *stack,
			const struct profiled_request *request)
{
	label_text(writing, sample, "context_source", source_name(stack->source));
	add_end(writing, sample, request);
	if (!writing->options->ids)
		return;
	label_id(writing, sample, "trace_id", stack->trace_id, sizeof(stack->trace_id));
	label_id(writing, sample, "span_id", stack->span_id, sizeof(stack->span_id));
}

/* Where labels of a program go. */
struct labelling {
	struct writing *writing;
	Sample *sample;
};

static bool is_taken(const struct labelling *labelling, const char *key)
{
	const struct writing *writing = labelling->writing;

	for (size_t i = 0; !writing->failed && i < labelling->sample->n_label; i++)
		if (!strcmp(writing->strings.text[labelling->sample->label[i]->key], key))
			return true;
	return false;
}

/* A label of the program, as a callback of labels_each(). One of our own keys gets a prefix. */
static int add_own(const char *key, const char *value, void *data)
{
	const struct labelling *labelling = data;
	char prefixed[sizeof("label.") + (size_t)FOREIGN_GROWTH * PROFILE_LABEL_KEY];

	snprintf(prefixed, sizeof(prefixed), "label.%s", key);
	label_text(labelling->writing, labelling->sample,
		   message_label_is_ours(key) || is_taken(labelling, key) ? prefixed : key, value);
	return 0;
}

static void add_labels(struct writing *writing, Sample *sample, const struct stack *stack,
		       const struct profiled_request *request)
{
	const char *missing = whole_stack_missing(writing->names, stack);

	sample->label = take(writing, LABELS_MAX * sizeof(Label *));
	if (!sample->label)
		return;
	label_text(writing, sample, "endpoint", request->endpoint->name);
	label_text(writing, sample, "service", request->endpoint->service);
	label_text(writing, sample, "process", stack->process->name);
	label_number(writing, sample, "pid", stack->process->tgid, "");
	if (missing)
		label_text(writing, sample, "stack", missing);
	if (stack_no_request(stack))
		label_text(writing, sample, "no_request", stack_no_request(stack));
	if (stack_has_request(stack))
		add_request(writing, sample, stack, request);
	labels_each(writing->labels, stack->labels, add_own, &(struct labelling){writing, sample});
}

static void fill(struct writing *writing, Sample *sample, const struct stack *stack)
{
	__u64 frame[WHOLE_STACK_MAX];

	sample->n_location_id = whole_stack_frames(writing->names, stack, frame);
	sample->location_id = take(writing, sample->n_location_id * sizeof(uint64_t));
	sample->n_value = count_values(writing);
	sample->value = take(writing, VALUES_MAX * sizeof(int64_t));
	if (!sample->location_id || !sample->value)
		return;
	for (size_t i = 0; i < sample->n_location_id; i++)
		sample->location_id[i] = frame_names_number(writing->names, frame[i]) + 1;
	for (size_t i = 0; i < VALUES_MAX; i++)
		sample->value[i] = 0;
}

/* A sample of a stack, with labels and without values. NULL: no memory. */
static Sample *add_sample(struct writing *writing, const struct stack *stack,
			  const struct profiled_request *request)
{
	Profile *profile = writing->message.profile;
	Sample *sample = take(writing, sizeof(*sample));

	if (!sample)
		return NULL;
	perftools__profiles__sample__init(sample);
	fill(writing, sample, stack);
	add_labels(writing, sample, stack, request);
	profile->sample[profile->n_sample++] = sample;
	return writing->failed ? NULL : sample;
}

static int add_on_cpu(struct writing *writing, const struct stack *stack,
		      const struct profiled_request *request)
{
	Sample *sample = add_sample(writing, stack, request);

	if (!sample)
		return -ENOMEM;
	sample->value[0] = (int64_t)stack->count;
	sample->value[1] = (int64_t)stack->count * writing->period_ns;
	return 0;
}

static int add_wait(struct writing *writing, const struct stack *stack,
		    const struct profiled_request *request, enum profile_wait wait)
{
	static const char *const words[PROFILE_WAITS] = {
	    [PROFILE_BLOCKED] = "blocked", [PROFILE_RUN_QUEUE] = "run queue"};
	Sample *sample = add_sample(writing, stack, request);

	if (!sample)
		return -ENOMEM;
	label_text(writing, sample, "wait", words[wait]);
	sample->value[2] = (int64_t)stack->waited_ns[wait];
	return 0;
}

/* What there is of a stack. */
static int add_stack(const struct stack *stack, void *data)
{
	struct writing *writing = data;
	const struct profiled_request request = stack_request(stack, writing->requests);
	int err = 0;

	if (stack->count)
		err = add_on_cpu(writing, stack, &request);
	for (enum profile_wait i = 0; !err && i < PROFILE_WAITS; i++)
		if (stack->waited_ns[i])
			err = add_wait(writing, stack, &request, i);
	return err;
}

static void add_samples(struct writing *writing, const struct samples *samples)
{
	/* On the CPU and by the kind of wait. */
	const size_t most = samples_counts(samples)->stacks * (1 + PROFILE_WAITS);

	writing->message.profile->sample = take(writing, most * sizeof(Sample *));
	if (writing->message.profile->sample)
		samples_each(samples, add_stack, writing);
}

static void add_comment(struct writing *writing, const struct count *count)
{
	_cleanup_free_ char *words = count_text(count);
	Profile *profile = writing->message.profile;

	writing->failed = writing->failed || !words;
	if (words)
		profile->comment[profile->n_comment++] = text(writing, words);
}

static void add_requests(struct writing *writing, const struct endpoint *endpoint)
{
	_cleanup_free_ char *of = count_of(endpoint->service, endpoint->name);

	writing->failed = writing->failed || !of;
	if (of)
		add_comment(writing, &(struct count){COUNT_REQUESTS, endpoint->requests, of});
}

static void add_servers(struct writing *writing, const struct servers *servers)
{
	add_comment(writing, &(struct count){COUNT_SERVERS, servers->samples, ""});
	for (size_t i = 0; i < SERVERS_REASONS; i++)
		if (servers->without[i])
			add_comment(writing, &(struct count){COUNT_NO_REQUEST, servers->without[i],
							     servers_reason(i)});
}

static void add_counts(struct writing *writing, const struct samples_counts *counts)
{
	const struct samples_message_options *options = writing->options;
	const __u64 lost = options->lost + counts->left_out;
	const struct endpoint *first = requests_endpoints(writing->requests);
	size_t count = 2 + SERVERS_REASONS;

	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		count++;
	writing->message.profile->comment = take(writing, count * sizeof(int64_t));
	if (writing->failed)
		return;
	if (lost)
		add_comment(writing, &(struct count){COUNT_LOST, lost, ""});
	if (options->of_servers && counts->servers.samples)
		add_servers(writing, &counts->servers);
	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		if (endpoint->requests)
			add_requests(writing, endpoint);
}

/* The table of texts, as the message's own. */
static void add_texts(struct writing *writing)
{
	const struct unique *strings = &writing->strings;
	char **table = take(writing, strings->count * sizeof(*table));

	for (size_t i = 0; !writing->failed && i < strings->count; i++) {
		const size_t size = strlen(strings->text[i]) + 1;

		table[i] = take(writing, size);
		if (table[i])
			memcpy(table[i], strings->text[i], size);
	}
	writing->message.profile->string_table = table;
	writing->message.profile->n_string_table = strings->count;
}

static void make(struct writing *writing, const struct samples *samples)
{
	Profile *profile = take(writing, sizeof(*profile));

	if (!profile)
		return;
	perftools__profiles__profile__init(profile);
	writing->message.profile = profile;
	add_types(writing);
	add_mappings(writing);
	add_locations(writing);
	add_samples(writing, samples);
	if (!writing->failed)
		add_functions(writing);
	if (!writing->failed)
		add_counts(writing, samples_counts(samples));
	if (!writing->failed)
		add_texts(writing);
}

int samples_message(const struct samples *samples, const struct profiler *profiler,
		    struct requests *requests, const struct samples_message_options *options,
		    struct message *ret)
{
	struct frame_names *names = frame_names_new(samples, profiler);
	struct writing writing = {.names = names,
				  .labels = samples_labels(samples),
				  .requests = requests,
				  .options = options,
				  .period_ns = NS_PER_CLOCK / options->hz,
				  .failed = !names};

	if (names)
		make(&writing, samples);
	frame_names_free(names);
	unique_free_all(&writing.strings);
	unique_free_all(&writing.functions);
	*ret = writing.message;
	if (!writing.failed)
		return 0;
	message_free(ret);
	return -ENOMEM;
}
