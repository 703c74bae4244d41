/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: client --connect ADDRESS [--port N] [options]\n"
    "Sends generated HTTP/1 requests to the chaos server and checks each answer: nothing but a\n"
    "traceparent line may differ from what was sent. Exits 1 when anything is wrong.\n"
    "  --connect ADDRESS     numeric IPv4 or IPv6 address\n"
    "  --port N              (8080)\n"
    "  --requests N          how many in all (1000)\n"
    "  --seconds N           begin no more requests after this time (0: no limit)\n"
    "  --seed N              the same seed sends the same requests (1)\n"
    "  --connections N       how many at a time (16)\n"
    "  --mode MODE           new: one request per connection; keep: one after the other;\n"
    "                        pipeline: up to --depth unanswered ones (keep)\n"
    "  --depth N             (8)\n"
    "  --pipeline-bytes N    unanswered bytes in a pipeline; more only as --expect atmost (4096)\n"
    "  --per-connection N    requests on one connection (40)\n"
    "  --cut CUT             how heads are sent: whole (in one send with the body), head (the "
    "body\n"
    "                        apart), two (cut at any place), pieces, bytes, mixed (mixed)\n"
    "  --bodies N            largest body, each way, in bytes (5000000)\n"
    "  --heads N             largest head in bytes (16384)\n"
    "  --plain               no upgrades, CONNECT or streams that are not HTTP\n"
    "  --post                only requests with a body\n"
    "  --aborts PERCENT      end so many connections anywhere in a request, by RST or FIN (0)\n"
    "  --expect EXPECT       none: no injected header; one: exactly one in each eligible request;\n"
    "                        atmost: one or none; strip: none in any; restart: one in each, and\n"
    "                        never one that it brought (none)\n"
    "  --stuck SECONDS       a connection without progress for so long is stuck (20)\n"
    "  --fake WHAT           add headers as a right or faulty agent would, to test the client:\n"
    "                        one, missing, double, same, zero, malformed, override, misplaced\n"
    "Prints one line: requests, ok, corrupt, missing, double, reset, stuck, skipped (eligible\n"
    "requests without a header under atmost), aborted (those of connections that it ended),\n"
    "injected, stall (longest time without progress on a connection), seconds; details of the\n"
    "first failures on stderr.\n";

static void give_up(const char *option, const char *value)
{
	fprintf(stderr, "client: --%s %s: no such value\n%s", option, value, usage);
	exit(2);
}

static int by_name(const char *option, const char *value, const char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		if (names[i] && !strcmp(names[i], value))
			return i;
	}
	give_up(option, value);
	return 0;
}

static uint64_t number(const char *option, const char *value)
{
	char *end;
	uint64_t n = strtoull(value, &end, 0);

	if (*end || end == value)
		give_up(option, value);
	return n;
}

static void resolve(struct settings *settings, const char *address, const char *port)
{
	struct addrinfo hints = {
	    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	    .ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found;

	if (!address || getaddrinfo(address, port, &hints, &found))
		give_up("connect", address ? address : "(absent)");
	memcpy(&settings->address, found->ai_addr, found->ai_addrlen);
	settings->address_len = found->ai_addrlen;
	freeaddrinfo(found);
}

static const char *const modes[] = {"new", "keep", "pipeline"};
static const char *const expects[] = {"none", "one", "atmost", "strip", "restart"};
static const char *const cuts[] = {"whole", "head", "two", "pieces", "bytes", "mixed"};
static const char *const fakes[] = {"none", "one",       "missing",  "double",   "same",
				    "zero", "malformed", "override", "misplaced"};

enum option_id {
	OPTION_CONNECT = 256,
	OPTION_PORT,
	OPTION_REQUESTS,
	OPTION_SECONDS,
	OPTION_SEED,
	OPTION_CONNECTIONS,
	OPTION_MODE,
	OPTION_DEPTH,
	OPTION_BUDGET,
	OPTION_PER_CONNECTION,
	OPTION_CUT,
	OPTION_BODIES,
	OPTION_HEADS,
	OPTION_PLAIN,
	OPTION_POST,
	OPTION_ABORTS,
	OPTION_EXPECT,
	OPTION_STUCK,
	OPTION_FAKE,
	OPTION_HELP,
};

static const struct option options[] = {
    {"connect", required_argument, NULL, OPTION_CONNECT},
    {"port", required_argument, NULL, OPTION_PORT},
    {"requests", required_argument, NULL, OPTION_REQUESTS},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"connections", required_argument, NULL, OPTION_CONNECTIONS},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"pipeline-bytes", required_argument, NULL, OPTION_BUDGET},
    {"per-connection", required_argument, NULL, OPTION_PER_CONNECTION},
    {"cut", required_argument, NULL, OPTION_CUT},
    {"bodies", required_argument, NULL, OPTION_BODIES},
    {"heads", required_argument, NULL, OPTION_HEADS},
    {"plain", no_argument, NULL, OPTION_PLAIN},
    {"post", no_argument, NULL, OPTION_POST},
    {"aborts", required_argument, NULL, OPTION_ABORTS},
    {"expect", required_argument, NULL, OPTION_EXPECT},
    {"stuck", required_argument, NULL, OPTION_STUCK},
    {"fake", required_argument, NULL, OPTION_FAKE},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

static void apply_number(struct settings *settings, int option, uint64_t n)
{
	switch (option) {
	case OPTION_REQUESTS:
		settings->requests = n;
		break;
	case OPTION_SECONDS:
		settings->seconds = (unsigned int)n;
		break;
	case OPTION_SEED:
		settings->seed = n;
		break;
	case OPTION_CONNECTIONS:
		settings->connections = (unsigned int)n;
		break;
	case OPTION_DEPTH:
		settings->depth = (unsigned int)n;
		break;
	case OPTION_BUDGET:
		settings->budget = (unsigned int)n;
		break;
	case OPTION_PER_CONNECTION:
		settings->per_connection = (unsigned int)n;
		break;
	case OPTION_BODIES:
		settings->body_max = n;
		break;
	case OPTION_HEADS:
		settings->head_max = n;
		break;
	case OPTION_ABORTS:
		settings->aborts = (unsigned int)n;
		break;
	case OPTION_STUCK:
		settings->stuck_ms = (unsigned int)n * 1000;
		break;
	}
}

static void apply(struct settings *settings, int option, const char *name, const char *value)
{
	switch (option) {
	case OPTION_MODE:
		settings->mode = (enum mode)by_name(name, value, modes, 3);
		break;
	case OPTION_CUT:
		settings->cut = (enum cut)by_name(name, value, cuts, 6);
		break;
	case OPTION_EXPECT:
		settings->expect = (enum expect)by_name(name, value, expects, 5);
		break;
	case OPTION_FAKE:
		settings->fake = (enum fake)by_name(name, value, fakes, 9);
		break;
	case OPTION_PLAIN:
		settings->plain = true;
		break;
	case OPTION_POST:
		settings->post_only = true;
		break;
	default:
		apply_number(settings, option, number(name, value));
	}
}

static void check_ranges(const struct settings *settings)
{
	if (!settings->connections || !settings->per_connection)
		give_up("connections or --per-connection", "0");
	if (!settings->depth || settings->depth > DEPTH_MAX)
		give_up("depth", "(not 1 to 64)");
	if (settings->aborts > 100)
		give_up("aborts", "(more than 100)");
	if (settings->head_max > 100000)
		give_up("heads", "(more than 100000)");
}

void settings_read(struct settings *settings, int argc, char **argv)
{
	const char *address = NULL, *port = "8080";
	int option, index = 0;

	*settings = (struct settings){
	    .requests = 1000,
	    .seed = 1,
	    .connections = 16,
	    .depth = 8,
	    .budget = 4096,
	    .per_connection = 40,
	    .stuck_ms = 20000,
	    .body_max = 5000000,
	    .head_max = 16384,
	    .mode = MODE_KEEP,
	    .cut = CUT_MIXED,
	};
	while ((option = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (option == OPTION_CONNECT) {
			address = optarg;
		} else if (option == OPTION_PORT) {
			port = optarg;
		} else if (option == OPTION_HELP || option == '?') {
			fputs(usage, option == '?' ? stderr : stdout);
			exit(option == '?' ? 2 : 0);
		} else {
			apply(settings, option, options[index].name, optarg);
		}
	}
	check_ranges(settings);
	resolve(settings, address, port);
}
