// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/store.h"
#include "cmd/top_cpu.h"
#include "cmd/waterfall.h"
#include "trace/busiest.h"
#include "trace/json.h"
#include "trace/query_words.h"
#include "trace/span.h"

#define DELAY_MS     2000
#define ROWS         40 /* without a terminal */
#define LINES_BESIDE 4  /* the head, and what belongs to no request */
#define MINUTES_MAX  1440

enum order { BY_RATE, BY_ERRORS, BY_P50, BY_P99, BY_CPU };

static const struct {
	char key;
	const char *name;
} orders[] = {[BY_RATE] = {'r', "rate"},
	      [BY_ERRORS] = {'e', "errors"},
	      [BY_P50] = {'5', "p50"},
	      [BY_P99] = {'9', "p99"},
	      [BY_CPU] = {'c', "cpu"}};
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

/* An endpoint, and how long each of its requests was on the CPU, in ns; -1: not known. */
struct top_row {
	const struct busy *busy;
	__s64 cpu_ns;
	double cpus; /* that all of its requests kept busy, or -1 */
};

/* What there is, in order. */
struct top {
	struct busiest busiest;
	struct top_row *row;
	double cpus_of_none; /* as above, of what belongs to no request */
};

/* What the options, and later the keys, ask for. */
static struct {
	enum order order;
	unsigned int minutes;
	unsigned long rows; /* 0: as many as there is room for */
} wanted = {.minutes = 1};

const char command_top_usage[] =
    "  ctxprop top              endpoints of services, and their calls, by rate\n"
    "\n"
    "On a terminal it refreshes. Keys sort by rate (r), errors (e), median (5), 99th percentile\n"
    "(9) or CPU time of a request (c); q quits. CPU time, of one request and of all (100 % is\n"
    "one CPU), is known if ctxpropd runs with --profile.\n";

static int set_order(const struct option_row *row, const char *text)
{
	for (size_t i = 0; i < ORDERS; i++)
		if (!strcmp(text, orders[i].name)) {
			wanted.order = (enum order)i;
			return COMMAND_OK;
		}
	return command_misused("--%s %s: expected rate, errors, p50, p99 or cpu", row->name, text);
}

static int set_last(const struct option_row *row, const char *text)
{
	__u64 ns, minutes;

	if (query_parse_time(text, &ns))
		return command_misused("--%s %s: expected a time: 5m, 2h", row->name, text);
	minutes = ns / (60 * NS_PER_SECOND);
	wanted.minutes = (unsigned int)(minutes < MINUTES_MAX ? minutes : MINUTES_MAX);
	return COMMAND_OK;
}

static int set_rows(const struct option_row *row, const char *text)
{
	if (number_parse(text, 1, 100000, &wanted.rows))
		return command_misused("--%s %s: expected a number from 1 to 100000", row->name,
				       text);
	return COMMAND_OK;
}

const struct option_row command_top_options[] = {
    {"number", 'n', "N", "at most this many", .set = set_rows},
    {"sort", 0, "rate|errors|p50|p99|cpu", "by what (default rate)", .set = set_order},
    {"last", 0, "TIME", "of this long until now, in whole minutes and the current one (default 1m)",
     .set = set_last},
    COMMAND_STORE_OPTION,
    {},
};

static __u64 rank(const struct top_row *row)
{
	switch (wanted.order) {
	case BY_ERRORS:
		return row->busy->errors;
	case BY_P50:
		return busiest_percentile(row->busy, 50);
	case BY_P99:
		return busiest_percentile(row->busy, 99);
	case BY_CPU:
		return (__u64)(row->cpu_ns + 1);
	default:
		return row->busy->count;
	}
}

static int compare(const void *a, const void *b)
{
	__u64 first = rank(a), second = rank(b);

	return first < second ? 1 : first > second ? -1 : 0;
}

static json_t *row_json(const struct top_row *row, double seconds)
{
	const struct busy *busy = row->busy;
	json_t *object = json_pack("{sI,sI,sf,sI,sI}", "count", (json_int_t)busy->count, "errors",
				   (json_int_t)busy->errors, "rate", (double)busy->count / seconds,
				   "p50_ns", (json_int_t)busiest_percentile(busy, 50), "p99_ns",
				   (json_int_t)busiest_percentile(busy, 99));

	if (row->cpu_ns >= 0)
		json_object_set_new(object, "cpu_ns_per_request",
				    json_integer((json_int_t)row->cpu_ns));
	if (row->cpus >= 0)
		json_object_set_new(object, "cpus", json_real(row->cpus));
	json_set_text(object, "service", busy->service);
	json_set_text(object, "kind", span_kind_name(busy->kind));
	json_set_text(object, "method", busy->method);
	json_set_text(object, "route", busy->route);
	return object;
}

static int print_json(const struct top *top)
{
	json_t *array = json_array();

	for (size_t i = 0; i < top->busiest.count && (!wanted.rows || i < wanted.rows); i++)
		json_array_append_new(array, row_json(&top->row[i], top->busiest.seconds));
	return json_print(array);
}

static void print_cpus(double cpus)
{
	if (cpus < 0)
		printf("%7s  ", "-");
	else
		printf("%6.1f%%  ", 100 * cpus);
}

/* The row for what belongs to no request. */
static void print_none(const struct top *top)
{
	if (top->cpus_of_none < 0)
		return;
	printf("%9s %7s %10s %10s %10s ", "-", "-", "-", "-", "-");
	print_cpus(top->cpus_of_none);
	puts(ENDPOINT_NONE);
}

static void print_row(const struct top_row *row, double seconds)
{
	char p50[WATERFALL_DURATION_MAX], p99[WATERFALL_DURATION_MAX], cpu[WATERFALL_DURATION_MAX];
	const struct busy *busy = row->busy;
	bool called = busy->kind == SPAN_CLIENT;

	printf("%9.1f ", (double)busy->count / seconds);
	colour_print(busy->errors ? COLOUR_BAD : COLOUR_GOOD, "%6.1f%%",
		     100.0 * (double)busy->errors / (double)busy->count);
	printf(" %10s %10s %10s ", waterfall_duration(p50, (__s64)busiest_percentile(busy, 50)),
	       waterfall_duration(p99, (__s64)busiest_percentile(busy, 99)),
	       row->cpu_ns < 0 ? "-" : waterfall_duration(cpu, row->cpu_ns));
	print_cpus(row->cpus);
	foreign_print(*busy->service ? busy->service : "?");
	fputs(called ? " > " : "  ", stdout);
	foreign_print(busy->method);
	putchar(' ');
	foreign_print(busy->route);
	putchar('\n');
}

static void print_table(const struct top *top, size_t rows, const struct command_flags *flags)
{
	if (!flags->oneline)
		printf("%9s %7s %10s %10s %10s %7s  %s\n", "PER S", "ERRORS", "P50", "P99",
		       "CPU/REQ", "CPU", "SERVICE  ENDPOINT, OR > CALL");
	for (size_t i = 0; i < top->busiest.count && i < rows; i++)
		print_row(&top->row[i], top->busiest.seconds);
	print_none(top);
}

/* Lines of the terminal that are for rows. */
static size_t room(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row <= LINES_BESIDE + 1)
		return ROWS;
	return size.ws_row - LINES_BESIDE - 1U;
}

/* 0, -ENOMEM or -EIO. */
static int read_top(sqlite3 *db, struct top_cpu *cpu, struct top *ret)
{
	int err = busiest_read(db, wanted.minutes, &ret->busiest);

	ret->row = err ? NULL : calloc(ret->busiest.count + 1, sizeof(*ret->row));
	if (!err && !ret->row) {
		busiest_free(&ret->busiest);
		err = -ENOMEM;
	}
	if (err)
		return err;
	top_cpu_read(cpu, wanted.minutes);
	for (size_t i = 0; i < ret->busiest.count; i++) {
		const struct busy *busy = &ret->busiest.busy[i];

		ret->row[i] =
		    (struct top_row){busy, top_cpu_of(cpu, busy), top_cpu_share(cpu, busy)};
	}
	ret->cpus_of_none = top_cpu_share(cpu, NULL);
	qsort(ret->row, ret->busiest.count, sizeof(*ret->row), compare);
	return 0;
}

/* `cpu`: what was read of profiles the last time. */
static int draw(sqlite3 *db, struct top_cpu *cpu, const struct command_flags *flags, bool refreshes)
{
	size_t rows = wanted.rows ? wanted.rows : refreshes ? room() : SIZE_MAX;
	int exit_code = COMMAND_OK, err;
	struct top top;

	err = read_top(db, cpu, &top);
	if (err)
		return err == -ENOMEM ? command_refuse("out of memory") : command_refuse_store(db);
	if (refreshes)
		printf(
		    "\033[H\033[Jthe last %.0f s, by %s   (r e 5 9 c: sort by rate, errors, p50, "
		    "p99, CPU; q: quit)\n\n",
		    top.busiest.seconds, orders[wanted.order].name);
	if (flags->json)
		exit_code = print_json(&top);
	else
		print_table(&top, rows, flags);
	fflush(stdout);
	free(top.row);
	busiest_free(&top.busiest);
	return exit_code;
}

/* Wait for a key. Returns whether to go on. */
static bool wait_for_key(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;

	if (poll(&input, 1, DELAY_MS) <= 0)
		return true;
	if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q')
		return false;
	for (size_t i = 0; i < ORDERS; i++)
		if (key == orders[i].key)
			wanted.order = (enum order)i;
	return true;
}

/* Keys are read at once and not echoed; Ctrl-C still works. */
static int refresh(sqlite3 *db, struct top_cpu *cpu, const struct command_flags *flags)
{
	struct termios before, own;
	int exit_code;

	if (tcgetattr(STDIN_FILENO, &before))
		return draw(db, cpu, flags, false);
	own = before;
	own.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &own);
	do
		exit_code = draw(db, cpu, flags, true);
	while (!exit_code && wait_for_key());
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return exit_code;
}

int command_top(const struct pins *pins, const struct command_flags *flags)
{
	bool refreshes = isatty(STDOUT_FILENO) && !flags->json && !flags->oneline;
	sqlite3 *db = flags->count ? NULL : command_open_store();
	struct top_cpu cpu = {};
	int exit_code;

	(void)pins;
	if (flags->count)
		return command_misused("top: unexpected argument '%s'", flags->words[0]);
	if (!db)
		return COMMAND_REFUSED;
	exit_code = refreshes ? refresh(db, &cpu, flags) : draw(db, &cpu, flags, false);
	top_cpu_free(&cpu);
	sqlite3_close(db);
	return exit_code;
}
