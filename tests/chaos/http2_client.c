/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chaos client of HTTP/2: generated requests, several at once on each connection; what the
 * server says that it has received is compared with what was sent. One thread, epoll. See --help.
 */
#include "http2_peer.h"
#include "ids.h"
#include "payload.h"
#include "tally.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#define EVENTS_MAX  128
#define TICK_MS     200
#define FILES_MAX   20000
#define FIELDS_MAX  26
#define NAMES       12 /* of fields that come again, so that tables are used */
#define OWN_PERCENT 8  /* of requests that bring a traceparent of their own */

enum expect { EXPECT_NONE, EXPECT_ONE, EXPECT_AT_MOST };
static const char *const expect_words[] = {"none", "one", "atmost", NULL};

/* What the client adds behind its own back, as a right or a faulty agent would, to test itself. */
enum fake { FAKE_NONE, FAKE_ONE, FAKE_MISSING, FAKE_DOUBLE, FAKE_SAME, FAKE_MALFORMED };
static const char *const fake_words[] = {"none", "one",       "missing", "double",
					 "same", "malformed", NULL};
#define FAULT_EVERY 50

static struct {
	const char *address;
	uint16_t port;
	uint64_t requests, seed, body_max, head_max;
	unsigned int connections, streams, per_connection, stuck_ms, seconds;
	enum expect expect;
	enum fake fake;
} settings = {.port = 8080,
	      .requests = 1000,
	      .seed = 1,
	      .body_max = 100000,
	      .head_max = 2000,
	      .connections = 8,
	      .streams = 4,
	      .per_connection = 200,
	      .stuck_ms = 20000};

/* A request that is under way, and what is told of it. */
struct request {
	uint64_t number, fields, body_len, body_sent, size;
	uint64_t told_fields, told_body, answer, answer_len;
	unsigned int told_parents;
	int status;
	char own[HTTP2_PARENT_LEN + 1]; /* empty: it has none */
	char told_parent[HTTP2_PARENT_LEN + 1];
	LIST_ENTRY(request) others;
};

struct conn {
	struct http2_peer peer; /* fd -1: it is closed */
	LIST_HEAD(, request) requests;
	unsigned int begun, open;
	uint64_t moved_ms;
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static struct tally tally;
static struct ids spans;
static uint64_t issued, begun_ms, now_ms;
static int poller;
static nghttp2_session_callbacks *callbacks;

static const char usage[] =
    "Usage: http2_client --connect ADDRESS [options]\n"
    "Sends generated requests of HTTP/2, without TLS, to http2_server and checks what it has\n"
    "received: nothing but a traceparent may be new. Exits 1 when anything is wrong.\n"
    "  --connect ADDRESS     numeric IPv4 or IPv6 address\n"
    "  --port N              (8080)\n"
    "  --requests N          how many in all (1000)\n"
    "  --seed N              (1)\n"
    "  --connections N       how many at a time (8)\n"
    "  --streams N           requests at a time on each of them (4)\n"
    "  --per-connection N    requests on one connection (200)\n"
    "  --bodies N            largest body, each way, in bytes (100000)\n"
    "  --heads N             so many bytes of fields, or a little more (2000)\n"
    "  --seconds N           begin no more requests after this time (0: no limit)\n"
    "  --expect EXPECT       none: no traceparent is added; one: one to each request without one;\n"
    "                        atmost: one or none (none)\n"
    "  --fake WHAT           add traceparents as a right or faulty agent would, to test the "
    "client:\n"
    "                        one, missing, double, same, malformed (none)\n"
    "  --stuck SECONDS       a connection without progress for so long is stuck (20)\n"
    "Prints one line, as client does.\n";

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Fields of a request that is being made: names and values are kept until it is submitted. */
struct making {
	nghttp2_nv field[FIELDS_MAX];
	char text[FIELDS_MAX][2][64];
	char *large; /* values that have no place there */
	size_t count;
};

static void add_field(struct making *making, struct request *request, const char *name,
		      const char *value, uint8_t flags)
{
	nghttp2_nv *field = &making->field[making->count];
	char(*text)[64] = making->text[making->count];

	*field =
	    (nghttp2_nv){(uint8_t *)text[0], (uint8_t *)value, strlen(name), strlen(value), flags};
	strcpy(text[0], name);
	if (strlen(value) < sizeof(text[1])) {
		strcpy(text[1], value);
		field->value = (uint8_t *)text[1];
	}
	making->count++;
	if (strcmp(name, HTTP2_PARENT) != 0)
		request->fields = http2_hash_field(request->fields, field->name, field->namelen,
						   field->value, field->valuelen);
}

/* A value of printable characters, of a few or of many. */
static char *draw_value(struct rng *rng, char *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (char)rng_between(rng, '!', '~');
	to[len] = '\0';
	return to;
}

static void add_drawn_field(struct making *making, struct request *request, struct rng *rng)
{
	const bool repeats = rng_percent(rng, 60);
	struct rng values = {repeats ? rng_below(rng, 3) : rng_next(rng)};
	const uint8_t flags =
	    rng_percent(rng, 15) ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
	char name[32], value[40];

	/* Some are as long as "traceparent", plain and coded. */
	if (rng_percent(rng, 10))
		strcpy(name, "traceparena");
	else
		snprintf(name, sizeof(name), "x-%.*s-%u", (int)rng_below(rng, 9), "tracepare",
			 (unsigned int)rng_below(rng, NAMES));
	add_field(making, request, name, draw_value(&values, value, rng_below(&values, 39)), flags);
}

/* One of ten requests has a field of the largest size. */
static void add_large_field(struct making *making, struct request *request, struct rng *rng)
{
	if (!settings.head_max || !rng_percent(rng, 10))
		return;
	making->large = malloc(settings.head_max + 1);
	if (!making->large)
		exit(2);
	draw_value(rng, making->large, rng_below(rng, settings.head_max));
	add_field(making, request, "x-large", making->large, NGHTTP2_NV_FLAG_NONE);
}

static void draw_own(struct request *request, struct rng *rng)
{
	if (rng_percent(rng, OWN_PERCENT))
		snprintf(request->own, sizeof(request->own),
			 "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-01", rng_next(rng) | 1,
			 rng_next(rng), rng_next(rng) | 1);
}

/* What an agent would add. */
static void add_fakes(struct making *making, struct request *request)
{
	const bool is_fault = request->number % FAULT_EVERY == 0;
	struct rng rng = rng_for(settings.seed ^ 0xfa4e, request->number);
	unsigned int count = settings.fake != FAKE_NONE && !*request->own;
	char value[HTTP2_PARENT_LEN + 1];

	if (is_fault && settings.fake == FAKE_MISSING)
		count = 0;
	if (is_fault && settings.fake == FAKE_DOUBLE)
		count *= 2;
	if (is_fault && settings.fake == FAKE_SAME)
		rng.state = 1;
	for (; count; count--) {
		snprintf(value, sizeof(value), "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-03",
			 rng_next(&rng) | 1, rng_next(&rng), rng_next(&rng) | 1);
		if (is_fault && settings.fake == FAKE_MALFORMED)
			value[4] = 'g';
		add_field(making, request, HTTP2_PARENT, value, NGHTTP2_NV_FLAG_NO_INDEX);
	}
}

static void make(struct making *making, struct request *request, struct rng *rng)
{
	char text[32];
	const size_t drawn = rng_below(rng, 15), at = rng_below(rng, drawn + 1);

	request->fields = HASH_EMPTY;
	request->body_len = rng_percent(rng, 50)
				? 0
				: rng_below(rng, rng_percent(rng, 20) ? settings.body_max : 3000);
	request->size = rng_below(rng, rng_percent(rng, 20) ? settings.body_max : 3000);
	draw_own(request, rng);
	add_field(making, request, ":method", request->body_len ? "POST" : "GET",
		  NGHTTP2_NV_FLAG_NONE);
	add_field(making, request, ":scheme", "http", NGHTTP2_NV_FLAG_NONE);
	add_field(making, request, ":authority", "chaos", NGHTTP2_NV_FLAG_NONE);
	snprintf(text, sizeof(text), "/%" PRIu64, request->number % 7 ? request->number : 0);
	add_field(making, request, ":path", text, NGHTTP2_NV_FLAG_NONE);
	snprintf(text, sizeof(text), "%" PRIu64, request->size);
	add_field(making, request, HTTP2_ASKED_SIZE, text, NGHTTP2_NV_FLAG_NONE);
	for (size_t i = 0; i <= drawn; i++) {
		if (i == at && *request->own)
			add_field(making, request, HTTP2_PARENT, request->own,
				  NGHTTP2_NV_FLAG_NONE);
		else
			add_drawn_field(making, request, rng);
	}
	add_large_field(making, request, rng);
	add_fakes(making, request);
}

/* The body of a request. */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t room,
			 uint32_t *flags, nghttp2_data_source *source, void *data)
{
	struct request *request = source->ptr;
	size_t len = request->body_len - request->body_sent;

	(void)session;
	(void)id;
	(void)data;
	len = len < room ? len : room;
	payload_fill(request->number, request->body_sent, bytes, len);
	request->body_sent += len;
	if (request->body_sent == request->body_len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)len;
}

static void issue(struct conn *conn)
{
	struct rng rng = rng_for(settings.seed, issued);
	struct request *request = calloc(1, sizeof(*request));
	struct making making = {.count = 0};
	nghttp2_data_provider body = {{.ptr = request}, read_body};
	nghttp2_priority_spec priority;

	if (!request)
		exit(2);
	request->number = issued++;
	request->answer = HASH_EMPTY;
	make(&making, request, &rng);
	nghttp2_priority_spec_init(&priority, 0, (int32_t)rng_between(&rng, 1, 256), 0);
	if (nghttp2_submit_request(conn->peer.session, rng_percent(&rng, 30) ? &priority : NULL,
				   making.field, making.count, request->body_len ? &body : NULL,
				   request) < 0) {
		fputs("http2_client: a request was not submitted\n", stderr);
		exit(2);
	}
	free(making.large);
	LIST_INSERT_HEAD(&conn->requests, request, others);
	conn->begun++;
	conn->open++;
}

static enum verdict judge(enum verdict verdict, const char *why, const char **ret_why)
{
	*ret_why = why;
	return verdict;
}

static bool is_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len;
}

static bool is_well_formed(const char *parent)
{
	return strlen(parent) == HTTP2_PARENT_LEN && !memcmp(parent, "00-", 3) &&
	       is_hex(parent + 3, 32) && parent[35] == '-' && is_hex(parent + 36, 16) &&
	       parent[52] == '-' && is_hex(parent + 53, 2);
}

static enum verdict judge_parent(const struct request *request, const char **ret_why)
{
	if (*request->own)
		return request->told_parents == 1 && !strcmp(request->told_parent, request->own)
			   ? VERDICT_OK
			   : judge(VERDICT_DOUBLE, "it brought another traceparent", ret_why);
	if (!request->told_parents)
		return settings.expect == EXPECT_ONE
			   ? judge(VERDICT_MISSING, "no traceparent", ret_why)
		       : settings.expect == EXPECT_AT_MOST ? VERDICT_SKIPPED
							   : VERDICT_OK;
	if (settings.expect == EXPECT_NONE || request->told_parents > 1)
		return judge(VERDICT_DOUBLE, "too many traceparents", ret_why);
	if (!is_well_formed(request->told_parent) ||
	    !ids_add(&spans, strtoull(request->told_parent + 36, NULL, 16)))
		return judge(VERDICT_CORRUPT,
			     "a traceparent that is malformed, or of another request", ret_why);
	return VERDICT_OK;
}

static enum verdict judge_request(const struct request *request, int32_t id, const char **ret_why)
{
	if (request->status != 200)
		return judge(VERDICT_CORRUPT, "no answer with status 200", ret_why);
	if (request->told_fields != request->fields)
		return judge(VERDICT_CORRUPT, "the fields arrived changed", ret_why);
	if (request->told_body != payload_hash(request->number, request->body_len))
		return judge(VERDICT_CORRUPT, "the body arrived changed", ret_why);
	if (request->answer_len != request->size ||
	    request->answer != payload_hash((uint64_t)id, request->size))
		return judge(VERDICT_CORRUPT, "the answer's body arrived changed", ret_why);
	return judge_parent(request, ret_why);
}

static void finish(struct conn *conn, struct request *request, enum verdict verdict,
		   const char *why)
{
	char what[40];

	snprintf(what, sizeof(what), "request %" PRIu64, request->number);
	tally_request(&tally, verdict);
	if (verdict != VERDICT_OK && verdict != VERDICT_SKIPPED)
		tally_tell(&tally, verdict, what, why);
	LIST_REMOVE(request, others);
	free(request);
	conn->open--;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *data)
{
	struct request *request = nghttp2_session_get_stream_user_data(session, id);
	const char *why = "the stream was reset";
	enum verdict verdict = VERDICT_RESET;

	if (!request)
		return 0;
	if (code == NGHTTP2_NO_ERROR)
		verdict = judge_request(request, id, &why);
	finish(data, request, verdict, why);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *data)
{
	struct request *request =
	    nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	const char *key = (const char *)name, *text = (const char *)value; /* both end with a NUL */

	(void)name_len;
	(void)value_len;
	(void)flags;
	(void)data;
	if (!request)
		return 0;
	if (!strcmp(key, ":status"))
		request->status = atoi(text);
	else if (!strcmp(key, HTTP2_TOLD_FIELDS))
		request->told_fields = strtoull(text, NULL, 16);
	else if (!strcmp(key, HTTP2_TOLD_BODY))
		request->told_body = strtoull(text, NULL, 16);
	else if (!strcmp(key, HTTP2_TOLD_PARENTS))
		request->told_parents = (unsigned int)atoi(text);
	else if (!strcmp(key, HTTP2_TOLD_PARENT))
		snprintf(request->told_parent, sizeof(request->told_parent), "%s", text);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t len, void *data)
{
	struct request *request = nghttp2_session_get_stream_user_data(session, id);

	(void)flags;
	(void)data;
	if (request) {
		request->answer = hash_bytes(request->answer, bytes, len);
		request->answer_len += len;
	}
	return 0;
}

static void prepare_callbacks(void)
{
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_callbacks_set_select_padding_callback(callbacks, http2_peer_pad);
}

static bool may_begin(void)
{
	return !stopped && issued < settings.requests &&
	       (!settings.seconds || now_ms - begun_ms < settings.seconds * 1000ULL);
}

static bool may_issue(const struct conn *conn)
{
	return may_begin() && conn->begun < settings.per_connection;
}

static void watch(struct conn *conn, int how)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};

	if (http2_peer_has_more(&conn->peer))
		event.events |= EPOLLOUT;
	epoll_ctl(poller, how, conn->peer.fd, &event);
}

static int connect_to(void)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(settings.port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(settings.port)};
	const bool is_v4 = inet_pton(AF_INET, settings.address, &v4.sin_addr) == 1;
	const int fd =
	    socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET6, settings.address, &v6.sin6_addr);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	if (connect(fd, is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
		    is_v4 ? sizeof(v4) : sizeof(v6)) &&
	    errno != EINPROGRESS) {
		perror("http2_client: connect");
		exit(2);
	}
	return fd;
}

static void open_conn(struct conn *conn)
{
	static uint64_t opened;
	const nghttp2_settings_entry entries[] = {
	    {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
	    {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20},
	};

	conn->begun = conn->open = 0;
	LIST_INIT(&conn->requests);
	conn->peer = (struct http2_peer){.fd = connect_to(),
					 .rng = rng_for(settings.seed ^ 0x5eed, opened++)};
	if (nghttp2_session_client_new(&conn->peer.session, callbacks, conn))
		exit(2);
	nghttp2_submit_settings(conn->peer.session, NGHTTP2_FLAG_NONE, entries,
				sizeof(entries) / sizeof(entries[0]));
	conn->moved_ms = now_ms;
	watch(conn, EPOLL_CTL_ADD);
}

static void close_conn(struct conn *conn, enum verdict verdict, const char *why)
{
	struct request *request;

	while ((request = LIST_FIRST(&conn->requests)))
		finish(conn, request, verdict, why);
	http2_peer_close(&conn->peer);
}

static void note_progress(struct conn *conn)
{
	const uint64_t still_ms = now_ms - conn->moved_ms;

	if (!conn->peer.moved)
		return;
	conn->peer.moved = false;
	conn->moved_ms = now_ms;
	if (still_ms > tally.stall_ms)
		tally.stall_ms = still_ms;
}

/* Go on with a connection on which something has happened. */
static void go_on(struct conn *conn, uint32_t events)
{
	int err = events & ~EPOLLOUT ? http2_peer_receive(&conn->peer) : 0;

	while (!err && conn->open < settings.streams && may_issue(conn))
		issue(conn);
	if (!err)
		err = http2_peer_send(&conn->peer);
	note_progress(conn);
	if (err == -EPROTO)
		close_conn(conn, VERDICT_CORRUPT, "what came is no HTTP/2");
	else if (err)
		close_conn(conn, VERDICT_RESET, "the connection broke");
	else if (!conn->open && !may_issue(conn))
		close_conn(conn, VERDICT_OK, "");
	else
		watch(conn, EPOLL_CTL_MOD);
}

/* Returns whether there is a connection. */
static bool look_after(struct conn *conns)
{
	bool any = false;

	for (unsigned int i = 0; i < settings.connections; i++) {
		struct conn *conn = &conns[i];

		if (conn->peer.fd >= 0 && now_ms - conn->moved_ms > settings.stuck_ms)
			close_conn(conn, VERDICT_STUCK, "no progress");
		if (conn->peer.fd < 0 && may_begin())
			open_conn(conn);
		any = any || conn->peer.fd >= 0;
	}
	return any;
}

static void run(struct conn *conns)
{
	struct epoll_event events[EVENTS_MAX];

	while (look_after(conns)) {
		const int n = epoll_wait(poller, events, EVENTS_MAX, TICK_MS);

		now_ms = clock_ms();
		for (int i = 0; i < n; i++)
			go_on(events[i].data.ptr, events[i].events);
	}
}

static int word_of(const char *option, const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	fprintf(stderr, "http2_client: --%s %s: no such value\n%s", option, word, usage);
	exit(2);
}

static void read_settings(int argc, char **argv)
{
	static const struct option options[] = {
	    {"connect", 1, NULL, 'c'},     {"port", 1, NULL, 'p'},
	    {"requests", 1, NULL, 'r'},    {"seed", 1, NULL, 's'},
	    {"connections", 1, NULL, 'n'}, {"streams", 1, NULL, 'm'},
	    {"bodies", 1, NULL, 'b'},      {"heads", 1, NULL, 'h'},
	    {"expect", 1, NULL, 'e'},      {"per-connection", 1, NULL, 'k'},
	    {"stuck", 1, NULL, 't'},       {"fake", 1, NULL, 'f'},
	    {"seconds", 1, NULL, 'd'},     {NULL, 0, NULL, 0},
	};

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		const uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;

		switch (option) {
		case 'c':
			settings.address = optarg;
			break;
		case 'p':
			settings.port = (uint16_t)number;
			break;
		case 'r':
			settings.requests = number;
			break;
		case 's':
			settings.seed = number;
			break;
		case 'n':
			settings.connections = (unsigned int)number;
			break;
		case 'm':
			settings.streams = (unsigned int)number;
			break;
		case 'b':
			settings.body_max = number;
			break;
		case 'h':
			settings.head_max = number;
			break;
		case 'k':
			settings.per_connection = (unsigned int)number;
			break;
		case 't':
			settings.stuck_ms = (unsigned int)number * 1000;
			break;
		case 'd':
			settings.seconds = (unsigned int)number;
			break;
		case 'f':
			settings.fake = (enum fake)word_of("fake", optarg, fake_words);
			break;
		case 'e':
			settings.expect = (enum expect)word_of("expect", optarg, expect_words);
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (settings.address && optind == argc)
		return;
	fputs(usage, stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct conn *conns;

	read_settings(argc, argv);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES_MAX, FILES_MAX});
	signal(SIGTERM, on_signal);
	prepare_callbacks();
	poller = epoll_create1(EPOLL_CLOEXEC);
	conns = calloc(settings.connections, sizeof(*conns));
	if (!conns)
		return 2;
	for (unsigned int i = 0; i < settings.connections; i++)
		conns[i].peer.fd = -1;
	begun_ms = now_ms = clock_ms();
	run(conns);
	tally.injected = spans.count;
	tally_print(&tally, (double)(clock_ms() - begun_ms) / 1000, stdout);
	free(conns);
	ids_free(&spans);
	nghttp2_session_callbacks_del(callbacks);
	return tally_is_clean(&tally) ? 0 : 1;
}
