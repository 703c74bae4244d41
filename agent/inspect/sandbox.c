// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "inspect/sandbox.h"

#define NS_PER_MS  (NS_PER_SECOND / 1000)
#define SOCKET     3 /* the descriptor in the process */
#define FIRST_FREE (SANDBOX_FILE + 1)

/* Sanitizers reserve more addresses than any limit would allow. */
#define LIMITS_MEMORY (!SANDBOX_IS_SANITIZED)

static int limit(int resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit wanted = {.rlim_cur = soft, .rlim_max = hard};

	return setrlimit(resource, &wanted) ? -errno : 0;
}

/* The first process to be killed when there is no memory left. */
static void offer_to_kill(void)
{
	static const char most[] = "1000";
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, most, sizeof(most) - 1) < 0)
		return; /* it is as it was */
}

/* What has to hold from the beginning on. 0 or -errno. */
static int set_limits(const struct sandbox_limits *limits)
{
	int err = limit(RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 1);

	if (!err)
		err = limit(RLIMIT_CORE, 0, 0);
	if (!err)
		err = limit(RLIMIT_FSIZE, 0, 0);
	if (!err && LIMITS_MEMORY)
		err = limit(RLIMIT_AS, SANDBOX_SPACE_MAX, SANDBOX_SPACE_MAX);
	if (!err && LIMITS_MEMORY)
		err = limit(RLIMIT_DATA, limits->data_bytes, limits->data_bytes);
	return err;
}

/*
 * Ignore signals that are meant for the whole group (Ctrl-C, the end of a unit): the parent may
 * still want the answer, and when it ends this process does, too.
 */
static void ignore_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

/* Exactly these, whatever numbers they had: a copy of the file is out of the way meanwhile. 0 or
 * -1. */
static int place_descriptors(int socket, int file)
{
	const int copy = file < 0 ? -1 : fcntl(file, F_DUPFD, FIRST_FREE);

	if (dup2(socket, SOCKET) < 0)
		return -1;
	if (file >= 0 && dup2(copy, SANDBOX_FILE) < 0)
		return -1;
	return (int)close_range(file < 0 ? SANDBOX_FILE : FIRST_FREE, ~0U, 0);
}

/*
 * One that is left behind would keep whoever reads our errors waiting for their end; only those of
 * sanitizers are worth that.
 */
static void close_standard(void)
{
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (!SANDBOX_IS_SANITIZED)
		close(STDERR_FILENO);
}

/* What it runs, and what it has. */
struct beginning {
	struct sandbox_limits limits;
	int socket, file; /* file -1: none */
	pid_t parent;
	int (*work)(int socket, void *data);
	void *data;
};

static _Noreturn void begin(const struct beginning *beginning)
{
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != beginning->parent)
		_exit(1);
	prctl(PR_SET_NAME, "ctxprop-inspect");
	offer_to_kill();
	if (place_descriptors(beginning->socket, beginning->file) || set_limits(&beginning->limits))
		_exit(1);
	close_standard();
	ignore_signals();
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(beginning->work(SOCKET, beginning->data) ? 1 : 0);
}

static int start(struct beginning *beginning, struct sandbox *ret_sandbox)
{
	int ends[2];

	*ret_sandbox = SANDBOX_NONE;
	if (child_left() == CHILD_LEFT_MAX)
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	beginning->parent = getpid();
	beginning->socket = ends[1];
	ret_sandbox->socket = ends[0];
	ret_sandbox->pid = fork();
	if (!ret_sandbox->pid)
		begin(beginning);
	close(ends[1]);
	if (ret_sandbox->pid > 0)
		ret_sandbox->pidfd = (int)syscall(SYS_pidfd_open, ret_sandbox->pid, 0);
	ret_sandbox->end_ns = clock_now_ns() + SANDBOX_SECONDS * NS_PER_SECOND;
	if (ret_sandbox->pidfd >= 0)
		return 0;
	sandbox_close(ret_sandbox);
	return -EAGAIN;
}

static const struct sandbox_limits usual = {SANDBOX_CPU_SECONDS, SANDBOX_DATA_MAX};

int sandbox_start(int (*work)(int socket, void *data), void *data, struct sandbox *ret_sandbox)
{
	return sandbox_start_within(&usual, work, data, ret_sandbox);
}

int sandbox_start_with(int file, int (*work)(int socket, void *data), void *data,
		       struct sandbox *ret_sandbox)
{
	struct beginning beginning = {.limits = usual, .file = file, .work = work, .data = data};

	return start(&beginning, ret_sandbox);
}

int sandbox_start_within(const struct sandbox_limits *limits, int (*work)(int socket, void *data),
			 void *data, struct sandbox *ret_sandbox)
{
	struct beginning beginning = {.limits = *limits, .file = -1, .work = work, .data = data};

	return start(&beginning, ret_sandbox);
}

/* `status` is that of waitpid(2). */
static enum sandbox_end end_of(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? SANDBOX_GAVE_UP : SANDBOX_DONE;
	if (WTERMSIG(status) == SIGXCPU)
		return SANDBOX_TOO_LONG;
	if (WTERMSIG(status) == SIGSYS)
		return SANDBOX_FORBIDDEN;
	return WTERMSIG(status) == SIGKILL ? SANDBOX_KILLED : SANDBOX_CRASHED;
}

static bool is_overdue(struct sandbox *sandbox, __u64 now_ns)
{
	return now_ns >= sandbox->end_ns ||
	       child_still_ns(&sandbox->progress, sandbox->pid) >= SANDBOX_STILL_MS * NS_PER_MS;
}

/* One that was killed has a while to end. */
static enum sandbox_end look_at_running(struct sandbox *sandbox)
{
	const __u64 now_ns = clock_now_ns();

	if (!sandbox->killed_ns) {
		if (is_overdue(sandbox, now_ns)) {
			kill(sandbox->pid, SIGKILL);
			sandbox->killed_ns = now_ns;
		}
		return SANDBOX_RUNS;
	}
	if (now_ns - sandbox->killed_ns < SANDBOX_KILL_MS * NS_PER_MS)
		return SANDBOX_RUNS;
	child_kill(sandbox->pid, sandbox->pidfd, 0);
	sandbox->pid = 0;
	return SANDBOX_KILLED;
}

enum sandbox_end sandbox_look(struct sandbox *sandbox)
{
	int status;
	pid_t ended = waitpid(sandbox->pid, &status, WNOHANG);

	if (!ended)
		return look_at_running(sandbox);
	sandbox->pid = 0;
	return ended < 0 ? SANDBOX_KILLED : end_of(status);
}

enum sandbox_end sandbox_wait(struct sandbox *sandbox)
{
	struct pollfd ended = {.fd = sandbox->pidfd, .events = POLLIN};
	enum sandbox_end end;

	do {
		poll(&ended, 1, SANDBOX_LOOK_MS);
		end = sandbox_look(sandbox);
	} while (end == SANDBOX_RUNS);
	return end;
}

enum sandbox_end sandbox_wait_ms(struct sandbox *sandbox, int most_ms)
{
	const __u64 end_ns = clock_now_ns() + (__u64)most_ms * NS_PER_MS;
	struct pollfd ended = {.fd = sandbox->pidfd, .events = POLLIN};
	enum sandbox_end end;

	do {
		const int left_ms = clock_ms_until(end_ns);

		poll(&ended, 1, left_ms < SANDBOX_LOOK_MS ? left_ms : SANDBOX_LOOK_MS);
		end = sandbox_look(sandbox);
	} while (end == SANDBOX_RUNS && clock_now_ns() < end_ns);
	return end;
}

/*
 * A process that was just forked still has copies of all our descriptors, and with them our locks,
 * which the next daemon would find taken. So wait for its end.
 */
void sandbox_close(struct sandbox *sandbox)
{
	if (sandbox->pid > 0)
		child_kill(sandbox->pid, sandbox->pidfd, SANDBOX_KILL_MS);
	cleanup_close(&sandbox->pidfd);
	cleanup_close(&sandbox->socket);
	*sandbox = SANDBOX_NONE;
}
