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

#define SOCKET     3 /* the descriptor in the process */
#define FIRST_FREE 4

/* Sanitizers reserve more addresses than any limit would allow. */
#define LIMITS_MEMORY (!SANDBOX_IS_SANITIZED)

static int limit(int resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit wanted = {.rlim_cur = soft, .rlim_max = hard};

	return setrlimit(resource, &wanted) ? -errno : 0;
}

/* The first process to go when there is no memory left. */
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

static _Noreturn void begin(int socket, pid_t parent, const struct sandbox_limits *limits,
			    int (*work)(int socket, void *data), void *data)
{
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "ctxprop-inspect");
	offer_to_kill();
	if (dup2(socket, SOCKET) < 0 || close_range(FIRST_FREE, ~0U, 0) || set_limits(limits))
		_exit(1);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(work(SOCKET, data) ? 1 : 0);
}

int sandbox_start(int (*work)(int socket, void *data), void *data, struct sandbox *ret_sandbox)
{
	static const struct sandbox_limits usual = {SANDBOX_CPU_SECONDS, SANDBOX_DATA_MAX};

	return sandbox_start_within(&usual, work, data, ret_sandbox);
}

int sandbox_start_within(const struct sandbox_limits *limits, int (*work)(int socket, void *data),
			 void *data, struct sandbox *ret_sandbox)
{
	pid_t parent = getpid();
	int ends[2];

	*ret_sandbox = SANDBOX_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	ret_sandbox->socket = ends[0];
	ret_sandbox->pid = fork();
	if (!ret_sandbox->pid)
		begin(ends[1], parent, limits, work, data);
	close(ends[1]);
	if (ret_sandbox->pid > 0)
		ret_sandbox->pidfd = (int)syscall(SYS_pidfd_open, ret_sandbox->pid, 0);
	ret_sandbox->end_ns = clock_now_ns() + SANDBOX_SECONDS * NS_PER_SECOND;
	if (ret_sandbox->pidfd >= 0)
		return 0;
	sandbox_close(ret_sandbox);
	return -EAGAIN;
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

enum sandbox_end sandbox_look(struct sandbox *sandbox)
{
	int status;
	pid_t ended = waitpid(sandbox->pid, &status, WNOHANG);

	if (!ended) {
		if (clock_now_ns() >= sandbox->end_ns)
			kill(sandbox->pid, SIGKILL);
		return SANDBOX_RUNS;
	}
	sandbox->pid = 0;
	return ended < 0 ? SANDBOX_KILLED : end_of(status);
}

enum sandbox_end sandbox_wait(struct sandbox *sandbox)
{
	struct pollfd ended = {.fd = sandbox->pidfd, .events = POLLIN};
	enum sandbox_end end;

	do {
		poll(&ended, 1, SANDBOX_SECONDS * 1000);
		end = sandbox_look(sandbox);
	} while (end == SANDBOX_RUNS);
	return end;
}

enum sandbox_end sandbox_wait_ms(struct sandbox *sandbox, int most_ms)
{
	const __u64 end_ns = clock_now_ns() + (__u64)most_ms * (NS_PER_SECOND / 1000);
	struct pollfd ended = {.fd = sandbox->pidfd, .events = POLLIN};

	while (poll(&ended, 1, clock_ms_until(end_ns)) < 0 && errno == EINTR)
		;
	return sandbox_look(sandbox);
}

/*
 * A process that has just been forked still has copies of all our descriptors, and so holds our
 * locks: whoever starts after us would find them taken.
 */
static void kill_and_wait(const struct sandbox *sandbox)
{
	struct pollfd ended = {.fd = sandbox->pidfd, .events = POLLIN};

	kill(sandbox->pid, SIGKILL);
	if (sandbox->pidfd >= 0)
		poll(&ended, 1, SANDBOX_KILL_MS);
	waitpid(sandbox->pid, NULL, WNOHANG);
}

void sandbox_close(struct sandbox *sandbox)
{
	if (sandbox->pid > 0)
		kill_and_wait(sandbox);
	cleanup_close(&sandbox->pidfd);
	cleanup_close(&sandbox->socket);
	*sandbox = SANDBOX_NONE;
}
