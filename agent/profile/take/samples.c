// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/unique.h"
#include "profile/take/requests.h"
#include "profile/take/samples.h"
#include "profile/take/waits.h"
#include "trace/shares.h"

#define BYTES_MAX (64UL << 20)  /* of all stacks and labels */
#define LATE_NS   NS_PER_SECOND /* so much later samples are taken here, or less */

struct samples {
	struct processes *processes;
	struct runtime_functions *functions;
	struct waits *open;
	struct labels labels;
	struct samples_counts counts;
	struct shares shares; /* of processes in all that is kept, bytes */
	struct unique stacks;
	__u64 since_ns;
	/* Of the sample that is looked at: */
	__u16 kernel_count, user_count, named_count;
	__u64 frame[PROFILE_SLOTS];
	long label_set;
};

struct samples *samples_new(struct processes *processes, struct runtime_functions *functions)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	*samples = (struct samples){.processes = processes,
				    .functions = functions,
				    .open = waits_new(),
				    .shares.room = BYTES_MAX,
				    .since_ns = clock_now_ns() - LATE_NS};
	if (samples->open)
		return samples;
	free(samples);
	return NULL;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	unique_free_all(&samples->stacks);
	waits_free(samples->open);
	labels_free(&samples->labels);
	free(samples);
}

static bool is_zero(const __u8 *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

bool stack_has_request(const struct stack *stack)
{
	return !is_zero(stack->span_id, sizeof(stack->span_id));
}

struct profiled_request stack_request(const struct stack *stack, struct requests *requests)
{
	pid_t pid = stack->followed ? REQUEST_OF_ANY : (pid_t)stack->process->tgid;

	return requests_find(requests, stack->trace_id, stack->request_span, pid);
}

const char *stack_no_request(const struct stack *stack)
{
	return stack->no_request ? servers_reason(stack->no_request - 1U) : NULL;
}

const char *stack_missing(const struct stack *stack)
{
	static const char *const words[PROFILE_STOPS] = {
	    [PROFILE_STOP_DEEP] = "[deeper than can be read]",
	    [PROFILE_STOP_PROCESS] = "[program not known yet]",
	    [PROFILE_STOP_MAPPING] = "[callers in unknown memory]",
	    [PROFILE_STOP_TABLE] = "[callers not known: no unwind table]",
	    [PROFILE_STOP_ROW] = "[callers not known: no rule]",
	    [PROFILE_STOP_READ] = "[callers not known: unreadable stack]",
	    [PROFILE_STOP_SWITCH] = STACK_SWITCHED,
	};

	return stack->stop < PROFILE_STOPS ? words[stack->stop] : NULL;
}

/* The frame of a user's address, by what the process had mapped when it was told to the sampler. */
static __u64 user_frame(const struct process *process, const struct profile_sample *sample,
			__u64 address)
{
	const struct process_code *code =
	    sample->stop == PROFILE_STOP_PROCESS ? NULL : process_code_at(process, address);

	return code ? FRAME_OF_FILE(code->file) | (__u32)(address - code->bias) : FRAME_UNKNOWN;
}

/*
 * A function by its name, and those into which a compiler has put it; if there is no room for all
 * of them, inner ones are left out. Returns how many frames were written.
 */
static size_t named_frames(const struct samples *samples, struct named_code *code, size_t room,
			   __u64 *ret_frames)
{
	bool has_outer = true;
	size_t count = 0;
	long number;

	for (; room && has_outer; code->depth++) {
		number = runtime_functions_get(samples->functions, code, &has_outer);
		if (number == RUNTIME_FUNCTION_NONE)
			return 0;
		count = count < room ? count : 0;
		ret_frames[count++] = FRAME_NAMED | (__u64)number;
	}
	return count;
}

static struct named_code code_of(const struct process *process, const struct profile_sample *sample,
				 const __u64 pair[2])
{
	return (struct named_code){.tgid = sample->tgid,
				   .life = sample->life,
				   .kind = sample->named_kind,
				   .layout = sample->named_layout,
				   .address = pair[0] & ~PROFILE_FRAME_NAMED,
				   .check = pair[1],
				   .compiled = process_compiled(process)};
}

/* Kernel addresses behind the first one are those that calls return to. */
static void fill_kernel(struct samples *samples, const struct profile_sample *sample)
{
	samples->kernel_count = sample->kernel_count;
	for (size_t i = 0; i < sample->kernel_count; i++)
		samples->frame[i] = (sample->frame[i] - (i ? 1 : 0)) | FRAME_KERNEL;
}

static bool is_inner(__u64 word)
{
	return word & PROFILE_FRAME_INNER;
}

/* Frames that the user's words make up, without functions that were put into others. */
static size_t user_frames(const struct profile_sample *sample)
{
	const __u64 *word = sample->frame + sample->kernel_count;
	size_t count = sample->user_count;

	for (size_t i = 0; i + 1 < sample->user_count; i++) {
		if (word[i] & PROFILE_FRAME_NAMED) {
			count -= is_inner(word[i]) ? 2 : 1;
			i++;
		}
	}
	return count;
}

static void fill_user(struct samples *samples, const struct process *process,
		      const struct profile_sample *sample)
{
	const __u64 *word = sample->frame + sample->kernel_count;
	__u64 *frame = samples->frame + samples->kernel_count;
	size_t left = user_frames(sample), count = 0;
	struct named_code code;

	for (size_t i = 0; i < sample->user_count; i++) {
		if (!(word[i] & PROFILE_FRAME_NAMED)) {
			left--;
			frame[count++] = user_frame(process, sample, word[i]);
		} else if (i + 1 < sample->user_count) {
			left -= !is_inner(word[i]);
			code = code_of(process, sample, word + i);
			code.is_inner = is_inner(word[i]);
			code.address &= ~PROFILE_FRAME_INNER;
			count += named_frames(samples, &code, PROFILE_FRAMES_MAX - left - count,
					      frame + count);
			i++;
		}
	}
	samples->user_count = (__u16)count;
}

static void fill_named(struct samples *samples, const struct process *process,
		       const struct profile_sample *sample)
{
	const __u64 *pair = sample->frame + sample->kernel_count + sample->user_count;
	__u64 *frame = samples->frame + samples->kernel_count + samples->user_count;
	struct named_code code;

	samples->named_count = sample->named_count;
	for (size_t i = 0; i < sample->named_count; i++, pair += 2) {
		code = code_of(process, sample, pair);
		named_frames(samples, &code, 1, frame + i);
		frame[i] |= pair[0] & PROFILE_NAMED_ENTRY ? FRAME_ENTRY : 0;
	}
}

static size_t frames_size(const struct samples *samples)
{
	return (size_t)(samples->kernel_count + samples->user_count + samples->named_count) *
	       sizeof(__u64);
}

/* A sample, and what was found of it: `samples` has its frames and labels. */
struct key {
	const struct process *process;
	const struct profile_sample *sample;
	const struct samples *samples;
};

static bool is_same(const void *item, const void *key)
{
	const struct stack *stack = item;
	const struct profile_sample *sample = ((const struct key *)key)->sample;
	const struct samples *samples = ((const struct key *)key)->samples;

	return stack->process == ((const struct key *)key)->process &&
	       stack->stop == sample->stop && stack->is_wait == (sample->kind == PROFILE_WAIT) &&
	       stack->named_kind == sample->named_kind && stack->source == sample->context_source &&
	       stack->no_request == servers_why(sample) + 1 &&
	       stack->followed == sample->followed && stack->labels == samples->label_set &&
	       stack->kernel_count == samples->kernel_count &&
	       stack->user_count == samples->user_count &&
	       stack->named_count == samples->named_count &&
	       !memcmp(stack->span_id, sample->span_id, sizeof(stack->span_id)) &&
	       !memcmp(stack->trace_id, sample->trace_id, sizeof(stack->trace_id)) &&
	       !memcmp(stack->request_span, sample->request_span, sizeof(stack->request_span)) &&
	       !memcmp(stack->frame, samples->frame, frames_size(samples));
}

/* A process, by a name of its own. */
struct owner {
	char name[SHARES_OWNER_MAX];
};

static struct owner owner_of(const struct process *process)
{
	struct owner owner;

	snprintf(owner.name, sizeof(owner.name), "%u", process->tgid);
	return owner;
}

/* Take room for what is kept of a process. Returns whether there is any. */
static bool take_room(struct samples *samples, const struct owner *owner, size_t size)
{
	const bool taken = shares_take_some(&samples->shares, owner->name, size);

	samples->counts.bytes = samples->shares.taken;
	return taken;
}

/* A new kind of stack. NULL: there is no room. */
static struct stack *add(struct samples *samples, __u64 hash, const struct process *process,
			 const struct profile_sample *sample)
{
	const size_t size = sizeof(struct stack) + frames_size(samples);
	const struct owner owner = owner_of(process);
	struct stack *stack = take_room(samples, &owner, size) ? malloc(size) : NULL;

	if (!stack || unique_append(&samples->stacks, hash, stack) < 0) {
		free(stack);
		return NULL;
	}
	*stack = (struct stack){.process = process,
				.stop = sample->stop,
				.named_kind = sample->named_kind,
				.no_request = (__u8)(servers_why(sample) + 1),
				.followed = sample->followed,
				.is_wait = sample->kind == PROFILE_WAIT,
				.source = sample->context_source,
				.labels = samples->label_set,
				.kernel_count = samples->kernel_count,
				.user_count = samples->user_count,
				.named_count = samples->named_count};
	memcpy(stack->trace_id, sample->trace_id, sizeof(stack->trace_id));
	memcpy(stack->span_id, sample->span_id, sizeof(stack->span_id));
	memcpy(stack->request_span, sample->request_span, sizeof(stack->request_span));
	memcpy(stack->frame, samples->frame, frames_size(samples));
	samples->counts.stacks++;
	return stack;
}

static struct stack *find(struct samples *samples, const struct process *process,
			  const struct profile_sample *sample)
{
	__u64 hash = hash_add(HASH_BEGIN, samples->frame, frames_size(samples));
	const struct key key = {process, sample, samples};
	struct stack *stack;

	hash = hash_add(hash, sample->span_id, sizeof(sample->span_id));
	hash = hash_add(hash, &samples->label_set, sizeof(samples->label_set));
	samples->stacks.same = is_same;
	stack = unique_find(&samples->stacks, hash, &key);
	return stack ? stack : add(samples, hash, process, sample);
}

/* The labels of a sample; a process that cannot be known has none. */
static void fill_labels(struct samples *samples, const struct process *process,
			const struct profile_sample *sample)
{
	const struct owner owner = owner_of(process);
	const size_t room = shares_left(&samples->shares, owner.name);
	size_t left = room;

	samples->label_set = labels_of(&samples->labels, processes_registered(samples->processes),
				       process->context, sample, &left);
	take_room(samples, &owner, room - left);
}

static void count_begin(struct samples *samples, const struct profile_sample *sample,
			struct stack *stack)
{
	if (sample->kind == PROFILE_ON_CPU && stack) {
		stack->count++;
		samples->counts.incomplete += stack_missing(stack) != NULL;
	} else if (!stack || waits_begin(samples->open, sample, stack)) {
		samples->counts.left_out++;
	}
}

bool samples_take_end(struct samples *samples, const struct profile_sample *sample)
{
	struct stack *stack = waits_end(samples->open, sample);

	for (size_t i = 0; stack && i < PROFILE_WAITS; i++)
		stack->waited_ns[i] += sample->waited_ns[i];
	return stack;
}

/* A sample on the CPU, or the begin of a wait. */
static void take_stack(struct samples *samples, const struct profile_sample *sample)
{
	struct process *process = processes_find(samples->processes, sample);
	struct stack *stack = NULL;

	samples->counts.conflicts += sample->context_conflict;
	if (process) {
		fill_kernel(samples, sample);
		fill_user(samples, process, sample);
		fill_named(samples, process, sample);
		fill_labels(samples, process, sample);
		stack = find(samples, process, sample);
	}
	count_begin(samples, sample, stack);
	if (process)
		processes_meet(process, sample);
}

void samples_take(const struct profile_sample *sample, void *data)
{
	struct samples *samples = data;

	if (sample->kind == PROFILE_WAITED) {
		samples->counts.left_out += !samples_take_end(samples, sample);
		return;
	}
	if (sample->kind == PROFILE_WAIT) {
		samples->counts.waits++;
	} else {
		samples->counts.on_cpu++;
		servers_count(&samples->counts.servers, sample);
		samples->counts.in_requests += !is_zero(sample->span_id, sizeof(sample->span_id));
	}
	take_stack(samples, sample);
}

__u64 samples_since_ns(const struct samples *samples)
{
	return samples->since_ns;
}

const struct samples_counts *samples_counts(const struct samples *samples)
{
	return &samples->counts;
}

const struct labels *samples_labels(const struct samples *samples)
{
	return &samples->labels;
}

int samples_each(const struct samples *samples, int (*visit)(const struct stack *stack, void *data),
		 void *data)
{
	int result = 0;

	for (size_t i = 0; i < samples->stacks.count && !result; i++)
		result = visit(samples->stacks.item[i], data);
	return result;
}
