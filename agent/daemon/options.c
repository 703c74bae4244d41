// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "base/clock.h"
#include "base/number.h"
#include "control/policy_model.h"
#include "control/policy_text.h"
#include "daemon/options.h"
#include "daemon/policies.h"
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

enum {
	OPTION_FLOWS = 256,
	OPTION_MEMORY,
	OPTION_GC,
	OPTION_ATTACH,
	OPTION_LEVEL,
	OPTION_POLICY,
	OPTION_WAIT,
	OPTION_SAMPLE,
	OPTION_DRAIN,
	OPTION_READERS,
	OPTION_NETNS,
	OPTION_PUBLISH,
	OPTION_REQUEST_IDS,
	OPTION_SERVICES,
	OPTION_STORE,
	OPTION_STORE_AGE,
	OPTION_STORE_SIZE,
	OPTION_KEEP,
	OPTION_PROFILE,
	OPTION_HEAD,
	OPTION_REDACT,
	OPTION_OTLP,
	OPTION_OTLP_HEADERS,
	OPTION_OTLP_CA,
	OPTION_HTTP,
	OPTION_HTTP_HOST,
	OPTION_WITHOUT,
	OPTION_VERSION
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"flows", required_argument, NULL, OPTION_FLOWS},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"gc-interval", required_argument, NULL, OPTION_GC},
    {"attach", required_argument, NULL, OPTION_ATTACH},
    {"log-level", required_argument, NULL, OPTION_LEVEL},
    {"policy", required_argument, NULL, OPTION_POLICY},
    {"wait-for-policy", no_argument, NULL, OPTION_WAIT},
    {"sample", required_argument, NULL, OPTION_SAMPLE},
    {"drain", no_argument, NULL, OPTION_DRAIN},
    {"readers", required_argument, NULL, OPTION_READERS},
    {"netns", required_argument, NULL, OPTION_NETNS},
    {"publish", required_argument, NULL, OPTION_PUBLISH},
    {"publish-goroutines", required_argument, NULL, OPTION_PUBLISH}, /* until 1.0 */
    {"ignore-request-ids", no_argument, NULL, OPTION_REQUEST_IDS},
    {"services", required_argument, NULL, OPTION_SERVICES},
    {"store", required_argument, NULL, OPTION_STORE},
    {"store-age", required_argument, NULL, OPTION_STORE_AGE},
    {"store-size", required_argument, NULL, OPTION_STORE_SIZE},
    {"keep", required_argument, NULL, OPTION_KEEP},
    {"profile", required_argument, NULL, OPTION_PROFILE},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"redact", required_argument, NULL, OPTION_REDACT},
    {"otlp", required_argument, NULL, OPTION_OTLP},
    {"otlp-headers", required_argument, NULL, OPTION_OTLP_HEADERS},
    {"otlp-ca", required_argument, NULL, OPTION_OTLP_CA},
    {"http", required_argument, NULL, OPTION_HTTP},
    {"http-host", required_argument, NULL, OPTION_HTTP_HOST},
    {"without", required_argument, NULL, OPTION_WITHOUT},
    {"verbose", no_argument, NULL, 'v'},
    {},
};

static const char help[] =
    "Usage: ctxpropd [options]\n"
    "Put a W3C traceparent header into every plaintext HTTP/1 request that leaves this\n"
    "network namespace. Runs in the foreground; stop it with SIGTERM. Probes that follow\n"
    "requests see the programs of the whole host, whatever namespaces are edited.\n"
    "\n"
    "      --netns WHICH      work in other network namespaces, too: all of this host, or those\n"
    "                         below /run/netns whose name fits a pattern; may be repeated\n"
    "                         (default self: only in this one)\n"
    "      --flows N          size of the flow table (default %d)\n"
    "      --memory MIB       what memory there is: tables take at most half of it (default: the\n"
    "                         limit of the cgroup, or what the machine has)\n"
    "      --gc-interval S    seconds between two looks for dead flows (default %d)\n"
    "      --attach WAY       tcx, clsact or auto (default auto: tcx where the kernel has it)\n"
    "      --policy FILE      the rules to begin with, read again on SIGHUP\n"
    "                         (default %s, if it is there)\n"
    "      --sample RATIO     of the traces that the built-in rules begin so many are marked as\n"
    "                         sampled, from 0 to 1 (default 1: all, which those record that\n"
    "                         follow the mark)\n"
    "      --wait-for-policy  with a file that cannot be used wait for a better one, do not end\n"
    "      --readers GROUP    users of this group may see the policy, beside root\n"
    "      --publish WHEN     let profilers of others see what goroutines, tasks and greenlets\n"
    "                         work on: always, never, or auto (default: while one reads the map\n"
    "                         traces_ctx_v1, where they do not change too often); until 1.0\n"
    "                         --publish-goroutines, too\n"
    "      --ignore-request-ids\n"
    "                         do not believe that a call which copies the x-request-id of a\n"
    "                         request was made for it\n"
    "      --services FILE    what services are called in spans, read again on SIGHUP\n"
    "      --store FILE       where spans are stored, an SQLite database, or none\n"
    "                         (default %s)\n"
    "      --store-age TIME   how long they are kept there, as 90m, 12h or 7d (default %dh)\n"
    "      --store-size SIZE  how large that file may become, as 64M or 2G (default %lluM)\n"
    "      --keep WHICH       keep traces that are not sampled, too: errors, slow (a request that\n"
    "                         is among the slowest 1 %% of its endpoint) or errors,slow\n"
    "      --profile HZ[,off-cpu]\n"
    "                         sample what the CPUs do all the time, and keep the profiles of an\n"
    "                         hour beside the store: so often a second, up to 99 (19); off-cpu:\n"
    "                         and what requests wait for\n"
    "      --head BYTES       how much of each head is read for spans (default %d; 0: nothing)\n"
    "      --redact REGEX     replace what fits in paths and fields by " REDACT_TEXT
    " before it is\n"
    "                         stored or sent; may be repeated\n"
    "      --otlp URL         send spans there by OTLP/HTTP, too (http://127.0.0.1:4318)\n"
    "      --otlp-headers FILE\n"
    "                         header fields to send with them, one Name: value in each line\n"
    "      --otlp-ca FILE     certificates to trust there instead of the system's\n"
    "      --http ADDRESS:PORT\n"
    "                         where metrics and a page with the traces are; none: nowhere\n"
    "                         (default %s, and without the traces)\n"
    "      --http-host NAME   a name by which that may be asked for, beside localhost and\n"
    "                         addresses; may be repeated\n"
    "      --drain            edit nothing, wait until no live connection needs the programs that\n"
    "                         are there, remove them, and end: ctxprop drain as a program\n"
    "      --log-level LEVEL  error, warning, info or debug (default info)\n"
    "  -v, --verbose          the same as --log-level debug\n"
    "  -h, --help             show this help\n"
    "      --version          show the version\n"
    "\n"
    "What it does to requests: ctxprop stats. To remove its programs: ctxprop drain.\n";

static enum options_next refuse(const char *option, const char *value, const char *wanted)
{
	fprintf(stderr, "ctxpropd: --%s %s: expected %s\n", option, value, wanted);
	return OPTIONS_WRONG;
}

static enum options_next set_flows(struct options *options, const char *value)
{
	unsigned long flows;
	char wanted[64];

	if (!number_parse(value, FLOWS_MIN, FLOWS_MAX, &flows)) {
		options->flows = (__u32)flows;
		return OPTIONS_RUN;
	}
	snprintf(wanted, sizeof(wanted), "a number from %d to %d", FLOWS_MIN, FLOWS_MAX);
	return refuse("flows", value, wanted);
}

static enum options_next set_memory(struct options *options, const char *value)
{
	unsigned long mib;
	char wanted[64];

	if (!number_parse(value, MEMORY_MIN, MEMORY_MAX, &mib)) {
		options->memory = (__u64)mib << 20;
		return OPTIONS_RUN;
	}
	snprintf(wanted, sizeof(wanted), "MiB from %d to %d", MEMORY_MIN, MEMORY_MAX);
	return refuse("memory", value, wanted);
}

static enum options_next set_gc(struct options *options, const char *value)
{
	unsigned long seconds;
	char wanted[64];

	if (!number_parse(value, 1, GC_SECONDS_MAX, &seconds)) {
		options->gc_seconds = (unsigned int)seconds;
		return OPTIONS_RUN;
	}
	snprintf(wanted, sizeof(wanted), "seconds from 1 to %d", GC_SECONDS_MAX);
	return refuse("gc-interval", value, wanted);
}

static enum options_next set_way(struct options *options, const char *value)
{
	int way = attach_way_by_name(value);

	if (way < 0)
		return refuse("attach", value, "tcx, clsact or auto");
	options->way = (enum attach_way)way;
	return OPTIONS_RUN;
}

static enum options_next set_sample(const char *value)
{
	__u32 sample;

	if (sample_parse(value, &sample))
		return refuse("sample", value, SAMPLE_WANTED);
	policy_builtin_set_sample(sample);
	return OPTIONS_RUN;
}

static enum options_next set_readers(struct options *options, const char *value)
{
	const struct group *group = getgrnam(value);

	if (!group)
		return refuse("readers", value, "the name of a group");
	options->readers = group->gr_gid;
	return OPTIONS_RUN;
}

static enum options_next set_netns(struct options *options, const char *value)
{
	char wanted[64];

	if (!wanted_add(&options->wanted, value))
		return OPTIONS_RUN;
	snprintf(wanted, sizeof(wanted), "no more than %d patterns", WANTED_PATTERNS_MAX);
	return refuse("netns", value, wanted);
}

static enum options_next set_publish(struct options *options, const char *value)
{
	static const char *const names[] = {
	    [PUBLISH_AUTO] = "auto",
	    [PUBLISH_ALWAYS] = "always",
	    [PUBLISH_NEVER] = "never",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		options->publish = (enum publish_mode)i;
		return OPTIONS_RUN;
	}
	return refuse("publish", value, "auto, always or never");
}

static enum options_next set_store_age(struct options *options, const char *value)
{
	__u64 ns;

	if (query_parse_time(value, &ns) || ns < STORE_SECONDS_MIN * NS_PER_SECOND)
		return refuse("store-age", value, "a time of a minute or more (90m, 12h, 7d)");
	options->store_limits.seconds = ns / NS_PER_SECOND;
	return OPTIONS_RUN;
}

static enum options_next set_store_size(struct options *options, const char *value)
{
	if (size_parse(value, STORE_BYTES_MIN, STORE_BYTES_MAX, &options->store_limits.bytes))
		return refuse("store-size", value, "a size from 1M to 16T (64M, 2G)");
	return OPTIONS_RUN;
}

static enum options_next set_store(struct options *options, int option, const char *value)
{
	if (option == OPTION_STORE_AGE)
		return set_store_age(options, value);
	if (option == OPTION_STORE_SIZE)
		return set_store_size(options, value);
	options->store = strcmp(value, "none") != 0 ? value : NULL;
	return OPTIONS_RUN;
}

static enum options_next set_keep(struct options *options, const char *value)
{
	if (keep_rules_parse(value, &options->keep))
		return refuse("keep", value, "errors, slow or errors,slow");
	return OPTIONS_RUN;
}

static enum options_next set_profile(struct options *options, const char *value)
{
	struct recorder_words words;

	options->profile = value;
	if (!recorder_words_parse(value, &words))
		return OPTIONS_RUN;
	return refuse("profile", value, "a number from 1 to 99, or one and ,off-cpu (19,off-cpu)");
}

static enum options_next set_head(struct options *options, const char *value)
{
	unsigned long bytes;
	char wanted[64];

	if (!number_parse(value, 0, RECORD_HEAD_MAX, &bytes)) {
		options->head_bytes = (__u32)bytes;
		return OPTIONS_RUN;
	}
	snprintf(wanted, sizeof(wanted), "bytes from 0 to %d", RECORD_HEAD_MAX);
	return refuse("head", value, wanted);
}

static enum options_next add_redact(struct options *options, const char *value)
{
	char why[64] = "no memory", wanted[160];
	int err = -ENOMEM;

	if (!options->redact)
		options->redact = redact_new();
	if (options->redact)
		err = redact_add(options->redact, value, why, sizeof(why));
	if (!err)
		return OPTIONS_RUN;
	if (err == -ENOSPC)
		snprintf(wanted, sizeof(wanted), "no more than %d patterns", REDACT_MAX);
	else
		snprintf(wanted, sizeof(wanted), "an extended regular expression (%s)", why);
	return refuse("redact", value, wanted);
}

static enum options_next set_url(struct options *options, const char *value)
{
	struct endpoint endpoint;

	if (endpoint_parse(value, false, &endpoint))
		return refuse("otlp", value, "an http:// or https:// URL");
	endpoint_free(&endpoint);
	options->otlp = value;
	return OPTIONS_RUN;
}

static enum options_next set_otlp(struct options *options, int option, const char *value)
{
	if (option == OPTION_OTLP)
		return set_url(options, value);
	if (option == OPTION_OTLP_HEADERS)
		options->otlp_headers = value;
	else
		options->otlp_ca = value;
	return OPTIONS_RUN;
}

static enum options_next set_http(struct options *options, const char *value)
{
	options->has_http = options->shows_traces = strcmp(value, "none") != 0;
	if (!options->has_http || !web_address_parse(value, &options->http))
		return OPTIONS_RUN;
	return refuse("http", value, "an address and a port (127.0.0.1:9464, [::1]:9464) or none");
}

static enum options_next add_http_host(struct options *options, const char *value)
{
	char wanted[64];

	if (!web_hosts_add(&options->http_hosts, value))
		return OPTIONS_RUN;
	snprintf(wanted, sizeof(wanted), "no more than %d names", WEB_HOSTS_MAX);
	return refuse("http-host", value, wanted);
}

/* For measurement only (docs/engine.md), so --help does not tell of it. */
static enum options_next set_without(const char *rule)
{
	int err = rules_switch_off(rule);

	if (err == -ENOTSUP)
		return refuse("without", rule,
			      "a build with -DCTXPROP_ABLATION=ON; in this one all rules stand");
	if (err)
		return refuse("without", rule,
			      "the name of a rule of the engine (by-loop, veto-spent, prompt)");
	return OPTIONS_RUN;
}

static enum options_next set_level(struct options *options, const char *value)
{
	int level = log_level_by_name(value);

	if (level < 0)
		return refuse("log-level", value, "error, warning, info or debug");
	options->level = (enum log_level)level;
	return OPTIONS_RUN;
}

static enum options_next take(struct options *options, int option)
{
	switch (option) {
	case 'h':
		printf(help, CTXPROP_FLOWS_DEFAULT, GC_SECONDS, POLICIES_FILE, STORE_PATH,
		       STORE_SECONDS / 3600, STORE_BYTES >> 20, RECORD_HEAD_MAX, WEB_ADDRESS);
		return OPTIONS_DONE;
	case OPTION_VERSION:
		printf("ctxpropd %s (ABI %d)\n", CTXPROP_VERSION, CTXPROP_ABI_VERSION);
		return OPTIONS_DONE;
	case OPTION_FLOWS:
		return set_flows(options, optarg);
	case OPTION_MEMORY:
		return set_memory(options, optarg);
	case OPTION_GC:
		return set_gc(options, optarg);
	case OPTION_ATTACH:
		return set_way(options, optarg);
	case OPTION_POLICY:
		options->policy = optarg;
		return OPTIONS_RUN;
	case OPTION_SAMPLE:
		return set_sample(optarg);
	case OPTION_WAIT:
		options->wait_for_policy = true;
		return OPTIONS_RUN;
	case OPTION_DRAIN:
		options->drain = true;
		return OPTIONS_RUN;
	case OPTION_READERS:
		return set_readers(options, optarg);
	case OPTION_PUBLISH:
		return set_publish(options, optarg);
	case OPTION_REQUEST_IDS:
		options->ignore_request_ids = true;
		return OPTIONS_RUN;
	case OPTION_SERVICES:
		options->services = optarg;
		return OPTIONS_RUN;
	case OPTION_STORE:
	case OPTION_STORE_AGE:
	case OPTION_STORE_SIZE:
		return set_store(options, option, optarg);
	case OPTION_PROFILE:
		return set_profile(options, optarg);
	case OPTION_HEAD:
		return set_head(options, optarg);
	case OPTION_REDACT:
		return add_redact(options, optarg);
	case OPTION_KEEP:
		return set_keep(options, optarg);
	case OPTION_OTLP:
	case OPTION_OTLP_HEADERS:
	case OPTION_OTLP_CA:
		return set_otlp(options, option, optarg);
	case OPTION_HTTP:
		return set_http(options, optarg);
	case OPTION_HTTP_HOST:
		return add_http_host(options, optarg);
	case OPTION_NETNS:
		return set_netns(options, optarg);
	case OPTION_WITHOUT:
		return set_without(optarg);
	case OPTION_LEVEL:
		return set_level(options, optarg);
	case 'v':
		options->level = LOG_LEVEL_DEBUG;
		return OPTIONS_RUN;
	default:
		fprintf(stderr, "Try: ctxpropd --help\n");
		return OPTIONS_WRONG;
	}
}

enum options_next options_parse(int argc, char **argv, struct options *ret_options)
{
	enum options_next next = OPTIONS_RUN;
	struct web_address http;
	int option;

	*ret_options = (struct options){.gc_seconds = GC_SECONDS,
					.way = ATTACH_AUTO,
					.store = STORE_PATH,
					.head_bytes = RECORD_HEAD_MAX,
					.store_limits = {STORE_BYTES, STORE_SECONDS},
					.has_http = !web_address_parse(WEB_ADDRESS, &http),
					.level = LOG_LEVEL_INFO};
	ret_options->http = http;
	while (next == OPTIONS_RUN &&
	       (option = getopt_long(argc, argv, "hv", long_options, NULL)) != -1)
		next = take(ret_options, option);
	if (next == OPTIONS_RUN && ret_options->profile && !ret_options->store) {
		fprintf(stderr, "ctxpropd: --profile keeps its profiles beside the store, and "
				"--store none is none\n");
		return OPTIONS_WRONG;
	}
	if (next == OPTIONS_RUN && optind < argc) {
		fprintf(stderr, "ctxpropd: unexpected argument '%s'\nTry: ctxpropd --help\n",
			argv[optind]);
		return OPTIONS_WRONG;
	}
	return next;
}
