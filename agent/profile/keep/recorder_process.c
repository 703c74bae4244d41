// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile/keep/recorder_main.h"
#include "profile/keep/recorder_process.h"

#define PAUSE_MAX_S   300
#define LIVED_LONG_S  600 /* then it is started again soon */
#define END_MS        10000
#define KILL_MS       1000 /* a process that waits for a file system may last longer */
#define LOOK_MS       5000 /* whether it makes turns */
#define STILL_NS      (15 * NS_PER_SECOND) /* so long it may do nothing but make no turns */
#define TURN_NS       (300 * NS_PER_SECOND) /* and so long one may last; the first: with all before */
#define STATUS_NO_RUN 127

static int make_counts(struct recorder_process *recorder)
{
	void *counts;

	recorder->counts_fd = memfd_create(RECORD_NAME, MFD_CLOEXEC);
	if (recorder->counts_fd < 0 || ftruncate(recorder->counts_fd, sizeof(*recorder->counts)))
		return -errno;
	counts = mmap(NULL, sizeof(*recorder->counts), PROT_READ | PROT_WRITE, MAP_SHARED,
		      recorder->counts_fd, 0);
	if (counts == MAP_FAILED)
		return -errno;
	recorder->counts = counts;
	return 0;
}

void recorder_process_prepare(struct recorder_process *recorder, const char *words,
			      const char *store, int level)
{
	int err = make_counts(recorder);

	recorder->words = words;
	recorder->store = store;
	recorder->level = level;
	if (err)
		log_warning("profile-failed", "no profile is recorded: %s", strerror(-err));
}

/*
 * In the new process: only functions that are safe after fork() in a process with threads
 * (signal-safety(7)).
 */
static _Noreturn void become(const struct recorder_process *recorder, int alive_fd,
			     char *const *argv)
{
	sigset_t none;

	sigemptyset(&none);
	if (dup2(alive_fd, STDIN_FILENO) < 0)
		_exit(STATUS_NO_RUN);
	if (recorder->counts_fd == RECORD_COUNTS_FD)
		fcntl(RECORD_COUNTS_FD, F_SETFD, 0);
	else if (dup2(recorder->counts_fd, RECORD_COUNTS_FD) < 0)
		_exit(STATUS_NO_RUN);
	close_range(RECORD_COUNTS_FD + 1, ~0U, 0);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(STATUS_NO_RUN);
}

static int start(struct recorder_process *recorder)
{
	char words[64], store[PATH_MAX], level[16], name[] = RECORD_NAME;
	char *const argv[] = {name, words, store, level, NULL};
	int ends[2];

	snprintf(words, sizeof(words), "%s", recorder->words);
	snprintf(store, sizeof(store), "%s", recorder->store);
	snprintf(level, sizeof(level), "%d", recorder->level);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	recorder->counts->turned_ns = 0;
	recorder->pid = fork();
	if (!recorder->pid)
		become(recorder, ends[0], argv);
	close(ends[0]);
	recorder->alive_fd = ends[1];
	if (recorder->pid < 0) {
		recorder->pid = 0;
		return -EAGAIN;
	}
	recorder->started_ns = recorder->seen_ns = clock_now_ns();
	recorder->progress = (struct child_progress){};
	recorder->turned_ns = 0;
	recorder->counts->starts++;
	recorder->pidfd = (int)syscall(SYS_pidfd_open, recorder->pid, 0);
	if (recorder->pidfd >= 0)
		return 0;
	child_kill(recorder->pid, -1, 0);
	return -EMFILE;
}

static void forget_process(struct recorder_process *recorder)
{
	cleanup_close(&recorder->pidfd);
	cleanup_close(&recorder->alive_fd);
	recorder->pidfd = recorder->alive_fd = -1;
	recorder->pid = 0;
}

unsigned int recorder_process_pause_s(unsigned int before_s, __u64 lived_s)
{
	if (!before_s || lived_s >= LIVED_LONG_S)
		return 1;
	return 2 * before_s < PAUSE_MAX_S ? 2 * before_s : PAUSE_MAX_S;
}

static void start_later(struct recorder_process *recorder, __u64 lived_ns)
{
	recorder->pause_s = recorder_process_pause_s(recorder->pause_s, lived_ns / NS_PER_SECOND);
	recorder->due_ns = clock_now_ns() + recorder->pause_s * NS_PER_SECOND;
}

void recorder_process_begin(struct recorder_process *recorder)
{
	int err;

	if (!recorder->counts)
		return;
	recorder->due_ns = 0;
	err = start(recorder);
	if (!err)
		return;
	forget_process(recorder);
	start_later(recorder, 0);
	log_warning("profile-restart", "profile: cannot start the recorder, will retry in %u s: %s",
		    recorder->pause_s, strerror(-err));
}

int recorder_process_fd(const struct recorder_process *recorder)
{
	return recorder->pidfd;
}

void recorder_process_look(struct recorder_process *recorder)
{
	const __u64 lived_ns = clock_now_ns() - recorder->started_ns;
	int status = 0;

	if (!recorder->pid || !waitpid(recorder->pid, &status, WNOHANG))
		return;
	forget_process(recorder);
	start_later(recorder, lived_ns);
	log_warning(
	    "profile-restart", "profile: the recorder ended (%s %d) and is restarted in %u s",
	    WIFSIGNALED(status) ? "signal" : "status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), recorder->pause_s);
}

bool recorder_process_hangs(__u64 turned_ns, __u64 since_turn_ns, __u64 still_ns)
{
	return since_turn_ns >= TURN_NS ||
	       (turned_ns && since_turn_ns >= STILL_NS && still_ns >= STILL_NS);
}

/* Kill one that hangs. */
static void look_at_turns(struct recorder_process *recorder, __u64 now_ns)
{
	const __u64 turned_ns = recorder->counts->turned_ns;
	const __u64 still_ns = child_still_ns(&recorder->progress, recorder->pid);

	if (turned_ns != recorder->turned_ns) {
		recorder->turned_ns = turned_ns;
		recorder->seen_ns = now_ns;
	}
	if (!recorder_process_hangs(turned_ns, now_ns - recorder->seen_ns, still_ns))
		return;
	child_kill(recorder->pid, recorder->pidfd, KILL_MS);
	forget_process(recorder);
	start_later(recorder, now_ns - recorder->started_ns);
	log_warning(
	    "profile-restart",
	    "profile: the recorder has hung for %llu s; it is killed, and restarted in %u s",
	    (unsigned long long)((now_ns - recorder->seen_ns) / NS_PER_SECOND), recorder->pause_s);
}

int recorder_process_do(struct recorder_process *recorder)
{
	const __u64 now_ns = clock_now_ns();

	if (recorder->pid) {
		look_at_turns(recorder, now_ns);
		return LOOK_MS;
	}
	if (recorder->due_ns && now_ns >= recorder->due_ns)
		recorder_process_begin(recorder);
	if (!recorder->due_ns || now_ns >= recorder->due_ns)
		return -1;
	return (int)((recorder->due_ns - now_ns) / 1000000) + 1;
}

void recorder_process_stop(struct recorder_process *recorder)
{
	recorder->due_ns = 0;
	if (recorder->pid)
		kill(recorder->pid, SIGTERM);
}

void recorder_process_end(struct recorder_process *recorder)
{
	struct pollfd ended = {.fd = recorder->pidfd, .events = POLLIN};

	cleanup_close(&recorder->alive_fd);
	recorder->alive_fd = -1;
	if (recorder->pid && poll(&ended, 1, END_MS) < 1)
		log_warning("profile-killed", "profile: the recorder does not end, and is killed");
	if (recorder->pid)
		child_kill(recorder->pid, recorder->pidfd, KILL_MS);
	forget_process(recorder);
	cleanup_close(&recorder->counts_fd);
	if (recorder->counts)
		munmap(recorder->counts, sizeof(*recorder->counts));
	*recorder = RECORDER_PROCESS_NONE;
}
