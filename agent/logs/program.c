// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logs/program.h"

enum { STATUS_CANNOT_RUN = 126, STATUS_NOT_THERE = 127, STATUS_OF_SIGNALS = 128 };

/* What stops and continues a job of a shell, and what a fault of this process is, stays as it is.
 */
static void choose_signals(sigset_t *ret_signals)
{
	static const int others[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV, SIGBUS,
				     SIGFPE,  SIGILL,  SIGABRT, SIGTRAP, SIGSYS};

	sigfillset(ret_signals);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigdelset(ret_signals, others[i]);
}

__attribute__((noreturn)) static void become(const struct program *program, const char *const *argv,
					     int out_fd, int errors_fd)
{
	int err;

	if (dup2(out_fd, STDOUT_FILENO) < 0 || dup2(errors_fd, STDERR_FILENO) < 0)
		_exit(STATUS_CANNOT_RUN);
	sigprocmask(SIG_SETMASK, &program->before, NULL);
	execvp(argv[0], (char *const *)argv);
	err = errno;
	fprintf(stderr, "ctxprop: logs: %s: %s\n", argv[0], strerror(err));
	_exit(err == ENOENT ? STATUS_NOT_THERE : STATUS_CANNOT_RUN);
}

int program_start(struct program *ret_program, const char *const *argv, int out_fd, int errors_fd)
{
	sigset_t signals;

	*ret_program = (struct program){.signal_fd = -1};
	choose_signals(&signals);
	if (sigprocmask(SIG_BLOCK, &signals, &ret_program->before))
		return -errno;
	ret_program->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ret_program->signal_fd < 0)
		return -errno;
	fflush(NULL);
	ret_program->pid = fork();
	if (!ret_program->pid)
		become(ret_program, argv, out_fd, errors_fd);
	return ret_program->pid < 0 ? -errno : 0;
}

/* Other children are there if this process is the first one of a container. */
static void reap(struct program *program)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != program->pid)
			continue;
		program->ended = true;
		program->status = status;
	}
}

void program_news(void *data)
{
	struct signalfd_siginfo info;
	struct program *program = data;

	while (read(program->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (number == SIGCHLD)
			reap(program);
		else if (number != SIGPIPE && info.ssi_code <= 0 && !program->ended)
			kill(program->pid, number);
	}
}

int program_end_alike(const struct program *program)
{
	const struct rlimit none = {};
	int number = WTERMSIG(program->status);
	sigset_t signals;

	if (!WIFSIGNALED(program->status))
		return WEXITSTATUS(program->status);
	/* The core is the program's. */
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&signals);
	sigaddset(&signals, number);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	return STATUS_OF_SIGNALS + number;
}
