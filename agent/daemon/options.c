// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/option.h"
#include "base/option_file.h"
#include "base/version.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_text.h"
#include "daemon/options.h"
#include "daemon/policies.h"
#include "kubelet/kubelet.h"
#include "load/rules.h"
#include "otlp/endpoint.h"
#include "profile/keep/recorder_words.h"
#include "records.h"
#include "trace/query_words.h"

#define FLOWS_MIN      16
#define FLOWS_MAX      16777216
#define MEMORY_MIN     16 /* MiB */
#define MEMORY_MAX     1048576
#define GC_SECONDS     60
#define GC_SECONDS_MAX 3600

#define STORE_SECONDS_MIN 60
#define STORE_BYTES_MIN   (1ULL << 20)
#define STORE_BYTES_MAX   (16ULL << 40)

/* What was said so far. */
static struct options wanted;

#define SAID_MAX 256

static int refuse(const struct option_row *row, const char *value, const char *expected)
{
	char said[SAID_MAX];

	option_said(row, value, said, sizeof(said));
	fprintf(stderr, "ctxpropd: %s: expected %s\n", said, expected);
	return OPTIONS_WRONG;
}

static int set_flows(const struct option_row *row, const char *value)
{
	unsigned long flows;
	char expected[64];

	if (!number_parse(value, FLOWS_MIN, FLOWS_MAX, &flows)) {
		wanted.flows = (__u32)flows;
		return OPTIONS_RUN;
	}
	snprintf(expected, sizeof(expected), "a number from %d to %d", FLOWS_MIN, FLOWS_MAX);
	return refuse(row, value, expected);
}

static int set_memory(const struct option_row *row, const char *value)
{
	unsigned long mib;
	char expected[64];

	if (!number_parse(value, MEMORY_MIN, MEMORY_MAX, &mib)) {
		wanted.memory = (__u64)mib << 20;
		return OPTIONS_RUN;
	}
	snprintf(expected, sizeof(expected), "MiB from %d to %d", MEMORY_MIN, MEMORY_MAX);
	return refuse(row, value, expected);
}

static int set_gc(const struct option_row *row, const char *value)
{
	unsigned long seconds;
	char expected[64];

	if (!number_parse(value, 1, GC_SECONDS_MAX, &seconds)) {
		wanted.gc_seconds = (unsigned int)seconds;
		return OPTIONS_RUN;
	}
	snprintf(expected, sizeof(expected), "seconds from 1 to %d", GC_SECONDS_MAX);
	return refuse(row, value, expected);
}

static int set_way(const struct option_row *row, const char *value)
{
	int way = attach_way_by_name(value);

	if (way < 0)
		return refuse(row, value, "tcx, clsact or auto");
	wanted.way = (enum attach_way)way;
	return OPTIONS_RUN;
}

static int set_sample(const struct option_row *row, const char *value)
{
	__u32 sample;

	if (sample_parse(value, &sample))
		return refuse(row, value, SAMPLE_WANTED);
	policy_builtin_set_sample(sample);
	return OPTIONS_RUN;
}

static int set_readers(const struct option_row *row, const char *value)
{
	const struct group *group = getgrnam(value);

	if (!group)
		return refuse(row, value, "the name of a group");
	wanted.readers = group->gr_gid;
	return OPTIONS_RUN;
}

static int set_netns(const struct option_row *row, const char *value)
{
	char expected[64];

	if (!wanted_add(&wanted.wanted, value))
		return OPTIONS_RUN;
	snprintf(expected, sizeof(expected), "no more than %d patterns", WANTED_PATTERNS_MAX);
	return refuse(row, value, expected);
}

static int set_publish(const struct option_row *row, const char *value)
{
	static const char *const names[] = {
	    [PUBLISH_AUTO] = "auto",
	    [PUBLISH_ALWAYS] = "always",
	    [PUBLISH_NEVER] = "never",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		wanted.publish = (enum publish_mode)i;
		return OPTIONS_RUN;
	}
	return refuse(row, value, "auto, always or never");
}

static int set_store_age(const struct option_row *row, const char *value)
{
	__u64 ns;

	if (query_parse_time(value, &ns) || ns < STORE_SECONDS_MIN * NS_PER_SECOND)
		return refuse(row, value, "a time of a minute or more (90m, 12h, 7d)");
	wanted.store_limits.seconds = ns / NS_PER_SECOND;
	return OPTIONS_RUN;
}

static int set_store_size(const struct option_row *row, const char *value)
{
	if (size_parse(value, STORE_BYTES_MIN, STORE_BYTES_MAX, &wanted.store_limits.bytes))
		return refuse(row, value, "a size from 1M to 16T (64M, 2G)");
	return OPTIONS_RUN;
}

static int set_store(const struct option_row *row, const char *value)
{
	(void)row;
	wanted.store = strcmp(value, "none") != 0 ? value : NULL;
	return OPTIONS_RUN;
}

static int set_keep(const struct option_row *row, const char *value)
{
	if (keep_rules_parse(value, &wanted.keep))
		return refuse(row, value, "errors, slow or errors,slow");
	return OPTIONS_RUN;
}

static int set_profile(const struct option_row *row, const char *value)
{
	struct recorder_words words;

	wanted.profile = value;
	if (!recorder_words_parse(value, &words))
		return OPTIONS_RUN;
	return refuse(row, value,
		      "a number from 1 to 99, which ,off-cpu ,window=SECONDS (5 to 60) and "
		      ",full=PERCENT (1 to 90) may follow");
}

static int set_head(const struct option_row *row, const char *value)
{
	unsigned long bytes;
	char expected[64];

	if (!number_parse(value, 0, RECORD_HEAD_MAX, &bytes)) {
		wanted.head_bytes = (__u32)bytes;
		return OPTIONS_RUN;
	}
	snprintf(expected, sizeof(expected), "bytes from 0 to %d", RECORD_HEAD_MAX);
	return refuse(row, value, expected);
}

static int add_redact(const struct option_row *row, const char *value)
{
	char why[64] = "no memory", expected[160];
	int err = -ENOMEM;

	if (!wanted.redact)
		wanted.redact = redact_new();
	if (wanted.redact)
		err = redact_add(wanted.redact, value, why, sizeof(why));
	if (!err)
		return OPTIONS_RUN;
	if (err == -ENOSPC)
		snprintf(expected, sizeof(expected), "no more than %d patterns", REDACT_MAX);
	else
		snprintf(expected, sizeof(expected), "an extended regular expression (%s)", why);
	return refuse(row, value, expected);
}

static int set_url(const struct option_row *row, const char *value)
{
	struct endpoint endpoint;

	if (endpoint_parse(value, false, &endpoint))
		return refuse(row, value, "an http:// or https:// URL");
	endpoint_free(&endpoint);
	wanted.otlp = value;
	return OPTIONS_RUN;
}

static int set_kubelet(const struct option_row *row, const char *value)
{
	if (!kubelet_url_is_good(value))
		return refuse(row, value, "https://HOST:10250 or http://HOST:10255");
	wanted.kubelet = value;
	return OPTIONS_RUN;
}

static int set_http(const struct option_row *row, const char *value)
{
	wanted.has_http = wanted.shows_traces = strcmp(value, "none") != 0;
	if (!wanted.has_http || !web_address_parse(value, &wanted.http))
		return OPTIONS_RUN;
	return refuse(row, value, "an address and a port (127.0.0.1:9464, [::1]:9464) or none");
}

/* It is the same server: what was said last of it counts. */
static int set_metrics(const struct option_row *row, const char *value)
{
	wanted.has_http = true;
	wanted.shows_traces = false;
	if (!web_address_parse(value, &wanted.http))
		return OPTIONS_RUN;
	return refuse(row, value, "an address and a port (10.0.0.1:9464, [::1]:9464)");
}

static int add_http_host(const struct option_row *row, const char *value)
{
	char expected[64];

	if (!web_hosts_add(&wanted.http_hosts, value))
		return OPTIONS_RUN;
	snprintf(expected, sizeof(expected), "no more than %d names", WEB_HOSTS_MAX);
	return refuse(row, value, expected);
}

/* For measurement only (docs/engine.md), so --help does not tell of it. */
static int set_without(const struct option_row *row, const char *rule)
{
	int err = rules_switch_off(rule);

	if (err == -ENOTSUP)
		return refuse(
		    row, rule,
		    "a build with -DCTXPROP_ABLATION=ON; in this one no rule can be switched off");
	if (err)
		return refuse(row, rule,
			      "the name of a rule of the engine (by-loop, veto-spent, prompt)");
	return OPTIONS_RUN;
}

static int set_level(const struct option_row *row, const char *value)
{
	int level = log_level_by_name(value);

	if (level < 0)
		return refuse(row, value, "error, warning, info or debug");
	wanted.level = (enum log_level)level;
	return OPTIONS_RUN;
}

static int set_verbose(const struct option_row *row, const char *value)
{
	(void)row;
	(void)value;
	wanted.level = LOG_LEVEL_DEBUG;
	return OPTIONS_RUN;
}

static int show_version(const struct option_row *row, const char *value)
{
	(void)row;
	(void)value;
	printf("ctxpropd %s (ABI %d)\n", CTXPROP_VERSION, CTXPROP_ABI_VERSION);
	return OPTIONS_DONE;
}

static int show_help(const struct option_row *row, const char *value);

static const char *config_asked; /* NULL: the usual one */
static char *config_text;        /* what it says holds until the daemon ends, and so does this */

/* Their defaults, as --help has them. */
#define AS_TEXT(number)     #number
#define TEXT_OF(number)     AS_TEXT(number)
#define STORE_HOURS_TEXT    "24h"
#define STORE_BYTES_TEXT    "512M"
#define DEFAULT_TEXT(value) " (default " value ")"
_Static_assert(STORE_SECONDS == 24 * 3600, "STORE_HOURS_TEXT says so");
_Static_assert(STORE_BYTES >> 20 == 512, "STORE_BYTES_TEXT says so");

static const struct option_row rows[] = {
    {"config", 0, "FILE",
     "read options from there, too, one `name = value` per line; none: nowhere "
     "(default " OPTIONS_FILE ", if it exists)",
     .text = &config_asked, .traits = OPTION_ONLY_WORDS},
    {"check", 0, NULL,
     "read that file, the policy and the other files that options name, say what is wrong with "
     "them, and end",
     .flag = &wanted.check, .traits = OPTION_ONLY_WORDS},
    {"netns", 0, "self|all|PATTERN",
     "work in other network namespaces, too: in all of this host, or in those below /run/netns "
     "whose name matches; may be repeated (default self: only in this one)",
     .set = set_netns, .traits = OPTION_REPEATS},
    {"flows", 0, "N", "size of the flow table" DEFAULT_TEXT(TEXT_OF(CTXPROP_FLOWS_DEFAULT)),
     .set = set_flows},
    {"memory", 0, "MIB",
     "the memory there is, of which tables take at most half (default: the limit of the cgroup, "
     "or what the machine has)",
     .set = set_memory},
    {"gc-interval", 0, "SECONDS",
     "time between two searches for dead flows" DEFAULT_TEXT(TEXT_OF(GC_SECONDS)), .set = set_gc},
    {"attach", 0, "tcx|clsact|auto", "how to attach (default auto: tcx where the kernel has it)",
     .set = set_way},
    {"policy", 0, "FILE",
     "the rules to start with, read again on SIGHUP (default " POLICIES_FILE ", if it exists)",
     .text = &wanted.policy},
    {"sample", 0, "RATIO",
     "share of new traces that the built-in rules mark as sampled, from 0 to 1 (default 1: "
     "backends that follow the mark record all)",
     .set = set_sample},
    {"wait-for-policy", 0, NULL,
     "if the policy file cannot be used, wait for a better one instead of ending",
     .flag = &wanted.wait_for_policy},
    {"readers", 0, "GROUP", "users of this group may see the policy, too", .set = set_readers},
    {"publish", 0, "auto|always|never",
     "show other profilers what goroutines, tasks and greenlets work on (default auto: while one "
     "reads the map traces_ctx_v1, unless they change too often)",
     .set = set_publish},
    {"publish-goroutines", 0, "WHEN", "the former name of --publish, until version 1.0",
     .alias = "publish"},
    {"ignore-request-ids", 0, NULL,
     "do not take a call that copies a request's x-request-id as made for that request",
     .flag = &wanted.ignore_request_ids},
    {"http2", 0, NULL,
     "read requests of HTTP/2 without TLS, and give those that leave a header, too (experimental: "
     "calls of programs in Go are followed, others' begin new traces; calls have no spans)",
     .flag = &wanted.http2},
    {"services", 0, "FILE", "rules that name services in spans, read again on SIGHUP",
     .text = &wanted.services},
    {"store", 0, "FILE",
     "the SQLite database where spans are stored, or none" DEFAULT_TEXT(STORE_PATH),
     .set = set_store},
    {"store-age", 0, "TIME",
     "how long they are kept there: 90m, 12h, 7d" DEFAULT_TEXT(STORE_HOURS_TEXT),
     .set = set_store_age},
    {"store-size", 0, "SIZE",
     "how large that file may become: 64M, 2G" DEFAULT_TEXT(STORE_BYTES_TEXT),
     .set = set_store_size},
    {"keep", 0, "errors|slow|errors,slow",
     "keep traces that are not sampled if a request in them failed, or is among the slowest 1 % "
     "of its endpoint",
     .set = set_keep},
    {"profile", 0, "HZ[,off-cpu]",
     "sample the CPUs all the time, this many times per second, up to 99 (19 is a good choice), "
     "and keep the profiles of the last hour beside the store; off-cpu: also what requests wait "
     "for",
     .set = set_profile},
    {"head", 0, "BYTES",
     "how much of each request head is read for spans, 0: nothing" DEFAULT_TEXT(
	 TEXT_OF(RECORD_HEAD_MAX)),
     .set = set_head},
    {"redact", 0, "REGEX",
     "replace what matches in paths and header fields by " REDACT_TEXT
     " before it is stored or sent; may be repeated",
     .set = add_redact, .traits = OPTION_REPEATS},
    {"otlp", 0, "URL", "send spans by OTLP/HTTP, too: http://127.0.0.1:4318", .set = set_url},
    {"otlp-headers", 0, "FILE", "header fields to send with them, one 'Name: value' per line",
     .text = &wanted.otlp_headers},
    {"otlp-ca", 0, "FILE", "certificates to trust there instead of the system's",
     .text = &wanted.otlp_ca},
    {"kubelet", 0, "URL",
     "ask the kubelet of this node for its pods, whose names go with spans: https://HOST:10250",
     .set = set_kubelet},
    {"kubelet-token", 0, "FILE", "the bearer token for it, which goes by https only",
     .text = &wanted.kubelet_token},
    {"kubelet-ca", 0, "FILE", "certificates to trust there instead of the system's",
     .text = &wanted.kubelet_ca},
    {"http", 0, "ADDRESS:PORT",
     "serve metrics and a page with the traces here; none: nowhere (default " WEB_ADDRESS
     ", only metrics)",
     .set = set_http},
    {"metrics", 0, "ADDRESS:PORT", "serve only metrics, and only here; in place of --http",
     .set = set_metrics},
    {"http-host", 0, "NAME",
     "a name by which that server may be addressed, beside localhost and addresses; may be "
     "repeated",
     .set = add_http_host, .traits = OPTION_REPEATS},
    {"drain", 0, NULL,
     "edit nothing, wait until no live connection needs the attached programs, remove them and "
     "end: `ctxprop drain` as a program",
     .flag = &wanted.drain, .traits = OPTION_ONLY_WORDS},
    {"without", 0, "RULE", NULL, .set = set_without, .traits = OPTION_ONLY_WORDS},
    {"log-level", 0, "error|warning|info|debug", "log messages up to this level (default info)",
     .set = set_level},
    {"verbose", 'v', NULL, "the same as --log-level debug", .set = set_verbose,
     .traits = OPTION_ONLY_WORDS},
    {"help", 'h', NULL, "show this help", .set = show_help, .traits = OPTION_ONLY_WORDS},
    {"version", 0, NULL, "show the version", .set = show_version, .traits = OPTION_ONLY_WORDS},
    {},
};

static int show_help(const struct option_row *row, const char *value)
{
	struct option_list list = {};

	(void)row;
	(void)value;
	option_add(&list, rows);
	printf("Usage: ctxpropd [options]\n"
	       "Add a W3C traceparent header to every plaintext HTTP/1 request that leaves this\n"
	       "network namespace. Runs in the foreground until SIGTERM. Probes follow requests\n"
	       "through the programs of the whole host, whatever namespaces are edited.\n\n");
	option_print(stdout, &list);
	printf("\nSee what became of requests: ctxprop stats. Remove everything: ctxprop drain.\n");
	return OPTIONS_DONE;
}

/* What the command line has, by place in the list of options. */
struct given {
	bool option[OPTION_LIST_MAX];
	bool asks; /* for help or the version, for which no file is needed */
};

/* Only what the file depends on is done now. */
static int note(const struct option_list *list, size_t place, const char *argument, void *data)
{
	const struct option_row *row = list->row[place];
	struct given *given = data;

	given->option[place] = true;
	given->asks |= row->set == show_help || row->set == show_version;
	if (row->text == &config_asked)
		config_asked = argument;
	return 0;
}

/* Read the file of options, if there is one. Lines that are wrong are counted. */
static void read_file(const struct option_list *list, const struct given *given)
{
	struct option_file file = {.name = config_asked ? config_asked : OPTIONS_FILE,
				   .given = given->option};
	struct policy_error error;
	int err;

	if (!strcmp(file.name, "none"))
		return;
	err = policy_load(file.name, &config_text, &file.size, &error);
	if (err == -ENOENT && !config_asked)
		return;
	wanted.config = file.name;
	file.text = config_text;
	if (!err) {
		wanted.wrong_lines = option_file_read(list, &file);
		return;
	}
	fprintf(stderr, "ctxpropd: %s\n", error.text);
	wanted.wrong_lines = 1;
}

/* Do the options go together, and is there no further argument? */
static enum options_next judge(int argc, char **argv)
{
	if (wanted.profile && !wanted.store) {
		fprintf(stderr, "ctxpropd: --profile keeps profiles beside the store, which "
				"--store none switches off\n");
		return wanted.config ? OPTIONS_REFUSED : OPTIONS_WRONG;
	}
	if (optind < argc) {
		fprintf(stderr, "ctxpropd: unexpected argument '%s'\nTry: ctxpropd --help\n",
			argv[optind]);
		return OPTIONS_WRONG;
	}
	if (wanted.check)
		return OPTIONS_CHECK;
	return wanted.wrong_lines ? OPTIONS_REFUSED : OPTIONS_RUN;
}

/* First the file, then the command line, which outranks it. */
static int read_all(const struct option_list *list, int argc, char **argv)
{
	struct given given = {};
	int end = option_each(list, argc, argv, false, note, &given);

	if (end)
		return end;
	if (!given.asks)
		read_file(list, &given);
	return option_read(list, argc, argv, false);
}

enum options_next options_parse(int argc, char **argv, struct options *ret_options)
{
	struct option_list list = {};
	struct web_address http;
	int end;

	wanted = (struct options){.gc_seconds = GC_SECONDS,
				  .way = ATTACH_AUTO,
				  .store = STORE_PATH,
				  .head_bytes = RECORD_HEAD_MAX,
				  .store_limits = {STORE_BYTES, STORE_SECONDS},
				  .has_http = !web_address_parse(WEB_ADDRESS, &http),
				  .level = LOG_LEVEL_INFO};
	wanted.http = http;
	option_add(&list, rows);
	end = read_all(&list, argc, argv);
	if (end == OPTION_REFUSED) {
		fprintf(stderr, "Try: ctxpropd --help\n");
		end = OPTIONS_WRONG;
	}
	if (end == OPTIONS_RUN)
		end = judge(argc, argv);
	*ret_options = wanted;
	return (enum options_next)end;
}
