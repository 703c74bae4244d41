// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "base/proc.h"
#include "base/text.h"
#include "inspect/mapped_file.h"
#include "profile/take/processes.h"
#include "runtimes/names.h"

#define BUCKETS     1024
#define LOOK_ANYWAY (2 * NS_PER_SECOND)  /* libraries come and go */
#define LOOKS_NS    (NS_PER_SECOND / 20) /* for looks at programs that do not serve */
#define FAILED_MAX  6  /* how often the time until the next look is doubled at most */
#define LOOK_AGAIN  10 /* so many looks in that time if samples have unknown code */

struct known {
	struct process process;
	struct known *next;
};

struct processes {
	struct sampler *sampler;
	struct files *files;
	struct thread_data *threads;
	struct proc_reader *reader;
	struct known *bucket[BUCKETS];
	struct profile_process told; /* what is being gathered */
	struct process_code code[PROFILE_MAPPINGS_MAX];
	int proc_fd;
	__u64 longest_ns; /* between two looks at one process */
};

struct processes *processes_new(struct sampler *sampler, struct files *files,
				struct thread_data *threads, struct proc_reader *reader)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (processes) {
		processes->sampler = sampler;
		processes->files = files;
		processes->threads = threads;
		processes->reader = reader;
		processes->longest_ns = LOOK_ANYWAY;
	}
	return processes;
}

void processes_slow_down(struct processes *processes, __u64 longest_ns)
{
	processes->longest_ns = longest_ns;
}

static void free_known(struct known *known)
{
	free(known->process.code);
	free(known->process.context);
	free(known);
}

void processes_free(struct processes *processes)
{
	struct known *next;

	for (size_t i = 0; processes && i < BUCKETS; i++) {
		for (struct known *known = processes->bucket[i]; known; known = next) {
			next = known->next;
			free_known(known);
		}
	}
	free(processes);
}

/* A process without any file of 64 bits has the vDSO of another kind. */
static int find_file(struct processes *processes, const struct mapping *mapping)
{
	if (mapping->inode)
		return files_get(processes->files, processes->reader, mapping);
	if (processes->told.count && !strcmp(mapping->path, "[vdso]"))
		return files_get_vdso(processes->files);
	return -ENOENT;
}

/* One mapping; what is no code of a file is left out. Returns 1 when there is no more room. */
static int gather(const struct mapping *mapping, void *data)
{
	struct processes *processes = data;
	struct profile_process *told = &processes->told;
	struct profile_mapping *place = &told->mapping[told->count];
	int file;

	if (!mapping->executable)
		return 0;
	file = find_file(processes, mapping);
	if (file < 0 || files_describe(processes->files, file, mapping, place))
		return 0;
	processes->code[told->count] =
	    (struct process_code){place->start, place->end, place->bias, file};
	return ++told->count == PROFILE_MAPPINGS_MAX;
}

static bool is_same_code(const struct process_code *a, const struct process_code *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->file == b->file;
}

/* Was it known what was gathered? */
static bool is_known(const struct processes *processes, const struct process *process)
{
	bool is_same = process->code && process->count == processes->told.count;

	for (__u32 i = 0; is_same && i < process->count; i++)
		is_same = is_same_code(&process->code[i], &processes->code[i]);
	return is_same;
}

/* Keep what was gathered. Without memory what was known stays. */
static void keep(struct processes *processes, struct process *process)
{
	size_t size = processes->told.count * sizeof(*process->code);
	struct process_code *code = malloc(size ? size : 1);

	if (!code)
		return;
	memcpy(code, processes->code, size);
	free(process->code);
	process->code = code;
	process->count = processes->told.count;
}

/*
 * Schedule the next look: after the same time as the last one, or twice that if it brought nothing
 * new.
 */
static void choose_pause(const struct processes *processes, struct process *process, bool is_news)
{
	const __u64 longer_ns = 2 * process->pause_ns;

	if (is_news || !process->pause_ns)
		process->pause_ns = LOOK_ANYWAY;
	else
		process->pause_ns =
		    longer_ns < processes->longest_ns ? longer_ns : processes->longest_ns;
}

static void tell_gone(struct processes *processes, struct process *process)
{
	process->is_told = false;
	sampler_set_process(processes->sampler, process->tgid, NULL);
	sampler_set_compiled(processes->sampler, process->tgid, NULL);
	sampler_set_threads(processes->sampler, process->tgid, NULL);
}

/* Has the process become another program since? Then it is that one which the sampler knows. */
static bool is_outlived(const struct known *bucket, const struct known *known)
{
	while (bucket && (bucket == known || bucket->process.tgid != known->process.tgid))
		bucket = bucket->next;
	return bucket;
}

/* The sampler has forgotten it, and is told again if there are more samples. */
static void take_back(struct processes *processes, const struct known *bucket, struct known *known)
{
	if (!is_outlived(bucket, known))
		tell_gone(processes, &known->process);
	known->process.looked_ns = 0;
}

static int compare_times(const void *a, const void *b)
{
	const __u64 first = *(const __u64 *)a, second = *(const __u64 *)b;

	return (first > second) - (first < second);
}

/*
 * The times at which the processes that the sampler knows were last sampled, the earliest first.
 * Returns their number.
 */
static size_t times_met(const struct processes *processes, __u64 ret_met_ns[PROFILE_PROCESSES])
{
	size_t count = 0;

	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct known *known = processes->bucket[i]; known; known = known->next)
			if (known->process.looked_ns && count < PROFILE_PROCESSES)
				ret_met_ns[count++] = known->process.met_ns;
	qsort(ret_met_ns, count, sizeof(*ret_met_ns), compare_times);
	return count;
}

/* The sampler knows as many as it can: it forgets the eighth of them that was met longest ago. */
static void make_room(struct processes *processes)
{
	__u64 met_ns[PROFILE_PROCESSES], until_ns;
	const size_t count = times_met(processes, met_ns);

	if (!count)
		return;
	until_ns = met_ns[count / 8];
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct known *known = processes->bucket[i]; known; known = known->next)
			if (known->process.looked_ns && known->process.met_ns <= until_ns)
				take_back(processes, processes->bucket[i], known);
}

static void look_at_threads(struct processes *processes, struct process *process)
{
	const struct thread_data_process at = {.proc_fd = processes->proc_fd,
					       .reader = processes->reader,
					       .tgid = process->tgid,
					       .life = process->life,
					       .code = process->code,
					       .count = process->count};

	thread_data_look(processes->threads, &at, &process->context);
}

/*
 * Labels first: what has a stack has its labels, too. What the sampler knows already is not told
 * again, so that it can go on with what it has found out by that. As sampler_set_process().
 */
static int tell(struct processes *processes, struct process *process, bool is_news)
{
	int err;

	look_at_threads(processes, process);
	if (process->is_told && !is_news)
		return 0;
	if (process_compiled(process))
		sampler_set_compiled(processes->sampler, process->tgid, &process->compiled);
	err = sampler_set_process(processes->sampler, process->tgid, &processes->told);
	process->is_told = !err;
	return err;
}

/* Returns whether its mappings have changed. */
static bool look_at_mappings(struct processes *processes, struct process *process)
{
	char comm[PROC_COMM_MAX];
	bool is_news;

	processes->told.count = 0;
	processes->told.life = process->life;
	if (proc_reader_maps(processes->reader, gather, processes) < 0 ||
	    proc_reader_has_failed(processes->reader) || !processes->told.count)
		return false;
	is_news = !is_known(processes, process);
	if (is_news)
		keep(processes, process);
	if (*proc_comm(comm, process->tgid, process->tgid))
		text_copy(process->name, sizeof(process->name), comm);
	if (tell(processes, process, is_news) == -E2BIG) {
		make_room(processes);
		tell(processes, process, true);
	}
	return is_news;
}

static void look(struct processes *processes, struct process *process)
{
	_cleanup_close_ int proc_fd = mapped_file_process(process->tgid);
	bool is_news = false;

	process->looked_ns = clock_now_ns();
	processes->proc_fd = proc_fd;
	if (proc_fd < 0)
		tell_gone(processes, process);
	else if (!proc_reader_begin(processes->reader, process->tgid))
		is_news = look_at_mappings(processes, process);
	choose_pause(processes, process, is_news);
}

/* Ask a runtime for the code that it has compiled. Returns whether it is known now. */
static bool ask_compiled(struct process *process, const struct runtime_names *runtime)
{
	const int err = runtime->compiled(process->tgid, &process->compiled);

	if ((err == -ETIMEDOUT || err == -ENOEXEC) && process->failed < FAILED_MAX)
		process->failed++;
	process->asked_ns = clock_now_ns();
	return !err;
}

/*
 * A runtime that begins knows not yet where it will have its code: it is asked again; less often
 * where that goes wrong, since others wait for it.
 */
static void look_at_compiled(struct processes *processes, struct process *process)
{
	const struct runtime_names *runtime = runtime_names_of(process->named_kind);

	if (process->compiled.life || !runtime || !runtime->compiled ||
	    (process->asked_ns && clock_now_ns() - process->asked_ns < LOOK_ANYWAY
									   << process->failed) ||
	    !ask_compiled(process, runtime))
		return;
	process->compiled.life = process->life;
	sampler_set_compiled(processes->sampler, process->tgid, &process->compiled);
}

const struct runtime_compiled *process_compiled(const struct process *process)
{
	return process->compiled.life ? &process->compiled : NULL;
}

struct process *processes_find(struct processes *processes, const struct profile_sample *sample)
{
	const __u32 tgid = sample->tgid;
	const __u64 life = sample->life;
	struct known **bucket = &processes->bucket[tgid % BUCKETS], *known = *bucket;

	while (known && (known->process.tgid != tgid || known->process.life != life))
		known = known->next;
	if (known)
		return &known->process;
	known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->process.tgid = tgid;
	foreign_copy(known->process.name, sizeof(known->process.name), sample->comm);
	known->process.life = life;
	known->next = *bucket;
	*bucket = known;
	return &known->process;
}

/* Did the sample meet something that is not known here? */
static bool met_unknown(const struct profile_sample *sample)
{
	return sample->stop == PROFILE_STOP_PROCESS || sample->stop == PROFILE_STOP_MAPPING;
}

void processes_meet(struct process *process, const struct profile_sample *sample)
{
	process->met_ns = clock_now_ns();
	process->is_met = true;
	process->has_unknown |= met_unknown(sample);
	process->serves |= sample->serves;
	if (sample->named_kind)
		process->named_kind = sample->named_kind;
}

/* Is it time to read its mappings? */
static bool is_due(const struct process *process)
{
	const __u64 since_ns = process->met_ns - process->looked_ns;

	return !process->looked_ns || since_ns > process->pause_ns ||
	       (process->has_unknown && since_ns > process->pause_ns / LOOK_AGAIN);
}

static void refresh(struct processes *processes, struct process *process)
{
	process->is_met = false;
	look_at_compiled(processes, process);
	if (is_due(process))
		look(processes, process);
	process->has_unknown = false;
}

/*
 * Those that serve, or those that do not, until `end_ns`. Returns whether all of them were
 * refreshed.
 */
static bool refresh_all(struct processes *processes, bool serves, __u64 end_ns)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct known *known = processes->bucket[i]; known; known = known->next)
			if (known->process.is_met && known->process.serves == serves) {
				refresh(processes, &known->process);
				if (clock_now_ns() > end_ns)
					return false;
			}
	return true;
}

bool processes_refresh(struct processes *processes)
{
	refresh_all(processes, true, ~0ULL);
	return refresh_all(processes, false, clock_now_ns() + LOOKS_NS);
}

static bool has_ended(const struct process *process)
{
	return kill((pid_t)process->tgid, 0) && errno == ESRCH;
}

static void forget_in(struct processes *processes, struct known **bucket, __u64 before_ns,
		      __u64 stacks_ns)
{
	struct known **link = bucket, *known;

	while ((known = *link)) {
		const __u64 met_ns = known->process.met_ns;

		if (known->process.looked_ns && !is_outlived(*bucket, known) &&
		    (met_ns < before_ns || has_ended(&known->process)))
			take_back(processes, *bucket, known);
		if (met_ns < before_ns || (met_ns < stacks_ns && !known->process.looked_ns)) {
			*link = known->next;
			free_known(known);
		} else {
			link = &known->next;
		}
	}
}

static void mark_files(const struct known *known, bool used[FILES_MAX])
{
	for (; known; known = known->next)
		for (__u32 i = 0; i < known->process.count; i++)
			used[known->process.code[i].file] = true;
}

void processes_forget(struct processes *processes, __u64 before_ns, __u64 stacks_ns)
{
	bool used[FILES_MAX] = {};

	for (size_t i = 0; i < BUCKETS; i++) {
		forget_in(processes, &processes->bucket[i], before_ns, stacks_ns);
		mark_files(processes->bucket[i], used);
	}
	files_close_unused(processes->files, used, before_ns);
}

const struct registered *processes_registered(const struct processes *processes)
{
	return thread_data_registered(processes->threads);
}

static int compare_code(const void *key, const void *entry)
{
	const __u64 address = *(const __u64 *)key;
	const struct process_code *code = entry;

	return address < code->start ? -1 : address >= code->end;
}

const struct process_code *process_code_at(const struct process *process, __u64 address)
{
	return process->count ? bsearch(&address, process->code, process->count,
					sizeof(*process->code), compare_code)
			      : NULL;
}
