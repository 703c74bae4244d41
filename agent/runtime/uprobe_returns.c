// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/uprobe_returns.h"

#ifdef __x86_64__

/* Headers before Linux 6.11 do not have it. */
#define URETPROBE 335

enum answer {
	ANSWER_KILLED, /* killed by SIGILL: the system call was not filtered, and may only be made
			  from the kernel's trampoline */
	ANSWER_NO_CALL,
	ANSWER_FILTERED,
	ANSWER_UNKNOWN,
};

/* Make uretprobe() return an error, and allow everything else. */
static void filter(void)
{
	struct sock_filter rules[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, URETPROBE, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(ANSWER_UNKNOWN);
}

/* In a child; only what is allowed between fork(2) and exec(2) of a process with threads. */
static void call(bool filtered)
{
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGILL, SIG_DFL);
	if (filtered)
		filter();
	if (syscall(URETPROBE) != -1)
		_exit(ANSWER_UNKNOWN);
	_exit(errno == ENOSYS   ? ANSWER_NO_CALL
	      : errno == EACCES ? ANSWER_FILTERED
				: ANSWER_UNKNOWN);
}

static enum answer ask(bool filtered)
{
	pid_t child = fork();
	int status;

	if (!child)
		call(filtered);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return ANSWER_UNKNOWN;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGILL ? ANSWER_KILLED : ANSWER_UNKNOWN;
	return (enum answer)WEXITSTATUS(status);
}

/* By the number of the system call, if a filter of our own does not let us find out. */
static bool kernel_has_call(void)
{
	struct utsname kernel;
	unsigned long major, minor;
	char *end;

	if (uname(&kernel))
		return true;
	major = strtoul(kernel.release, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return major > 6 || (major == 6 && minor >= 11);
}

bool uprobe_returns_are_safe(void)
{
	switch (ask(false)) {
	case ANSWER_NO_CALL:
		return true;
	case ANSWER_KILLED:
		return ask(true) == ANSWER_KILLED;
	default:
		return !kernel_has_call();
	}
}

#else

bool uprobe_returns_are_safe(void)
{
	return true;
}

#endif
