// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/signals.h"
#include "profile/keep/recorder.h"
#include "profile/keep/recorder_main.h"
#include "profile/keep/recorder_words.h"
#include "profile/take/registered.h"

#define SETTLE_MS 1500                   /* for the daemon to store its last spans */
#define AGAIN_NS  (3600 * NS_PER_SECOND) /* how often a lasting problem is logged */

enum { EXIT_OK = 0, EXIT_FAILED = 1 };

/*
 * Log a warning, unless one of its kind was logged in the last hour and no whole window was written
 * since.
 */
static void warn(enum recorder_event event, const char *text, __u64 told_ns[RECORDER_EVENTS])
{
	static const char *const ids[RECORDER_EVENTS] = {
	    [RECORDER_FAILED] = "profile-not-written",
	    [RECORDER_LACKS] = "profile-incomplete",
	    [RECORDER_CROWDED] = "profile-crowded",
	};
	const __u64 now_ns = clock_now_ns();

	if (told_ns[event] && now_ns - told_ns[event] < AGAIN_NS)
		return;
	log_warning(ids[event], "profile: %s", text);
	told_ns[event] = now_ns;
}

static void tell(enum recorder_event event, const char *text)
{
	static __u64 told_ns[RECORDER_EVENTS]; /* 0: it was not */

	switch (event) {
	case RECORDER_WRITTEN:
		if (told_ns[RECORDER_FAILED])
			log_info("profile-recovered", "profile: windows are written again");
		told_ns[RECORDER_FAILED] = told_ns[RECORDER_LACKS] = 0;
		log_debug("profile-written", "profile: %s is written", text);
		break;
	case RECORDER_RENEWED:
		log_info("profile-tables-renewed", "profile: the tables were made anew: %s", text);
		break;
	default:
		warn(event, text, told_ns);
	}
}

/* Wait for so long, or until the daemon is gone, or (with a signal_fd) a signal comes. */
static bool is_ended(int signal_fd, unsigned int timeout_ms)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO}, {.fd = signal_fd, .events = POLLIN}};

	return poll(fds, sizeof(fds) / sizeof(fds[0]), (int)timeout_ms) > 0 &&
	       (fds[0].revents || fds[1].revents);
}

static void record(struct recorder *recorder, int signal_fd)
{
	malloc_trim(0); /* free what only loading needed */
	while (!is_ended(signal_fd, recorder_turn(recorder)))
		;
	recorder_stop(recorder);
	is_ended(-1, SETTLE_MS);
	recorder_close(recorder);
}

static int run(const struct recorder_options *options)
{
	/* SIGHUP is the daemon's, which reads its files again. */
	_cleanup_close_ int signal_fd = signals_take((const int[]){SIGTERM, SIGINT, 0}, SIGHUP);
	char why[RECORDER_WHY_MAX];
	struct recorder *recorder;

	if (signal_fd < 0) {
		log_error("profile-failed", "profile: cannot receive signals: %s",
			  strerror(-signal_fd));
		return EXIT_FAILED;
	}
	if (recorder_open(options, &recorder, why)) {
		log_error("profile-failed", "profile: %s", why);
		return EXIT_FAILED;
	}
	log_info("profile-recording", "profile: recording at %u Hz%s", options->hz,
		 options->off_cpu ? ", and time off the CPU" : "");
	record(recorder, signal_fd);
	return EXIT_OK;
}

int recorder_main(int argc, char **argv)
{
	struct recorder_options options = {.registry = REGISTERED_PATH, .tell = tell};
	struct recorder_words words;
	unsigned long level;
	void *counts;

	if (argc != RECORD_ARGUMENTS || recorder_words_parse(argv[RECORD_WORDS], &words) ||
	    number_parse(argv[RECORD_LEVEL], 0, LOG_LEVEL_DEBUG, &level))
		return EXIT_FAILED;
	prctl(PR_SET_NAME, RECORD_NAME);
	log_set_level((enum log_level)level);
	log_capture_libbpf();
	counts = mmap(NULL, sizeof(*options.counts), PROT_READ | PROT_WRITE, MAP_SHARED,
		      RECORD_COUNTS_FD, 0);
	if (counts == MAP_FAILED) {
		log_error("profile-failed", "profile: cannot map the counters: %s",
			  strerror(errno));
		return EXIT_FAILED;
	}
	options.counts = counts;
	options.hz = words.hz;
	options.off_cpu = words.off_cpu;
	options.window_s = words.window_s;
	options.full = words.full;
	options.renew_s = words.renew_s;
	options.store = argv[RECORD_STORE];
	return run(&options);
}
