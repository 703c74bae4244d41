// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "inspect/sandbox.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "the system calls of this architecture are not known: add its AUDIT_ARCH_... here"
#endif

/* What reading, memory and an answer take. None of them names a file or another process. */
static const unsigned int allowed[] = {
    SYS_read,          SYS_pread64,    SYS_lseek,
    SYS_fstat,         SYS_close,      SYS_sendmsg,
    SYS_sendto,        SYS_munmap,     SYS_mremap,
    SYS_brk,           SYS_madvise,    SYS_futex,
    SYS_exit,          SYS_exit_group, SYS_rt_sigreturn,
    SYS_clock_gettime, SYS_getrandom,  SYS_sched_yield,
    SYS_write,         SYS_sysinfo, /* qsort() of glibc before 2.37 asks how much memory there is */
#if SANDBOX_IS_SANITIZED
    SYS_sigaltstack,   SYS_getpid,     SYS_gettid,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat, /* fstat() of newer libraries; what it could tell of a path is no secret */
#endif
};

/* These, too, unless they make memory executable. */
static const unsigned int allowed_for_data[] = {SYS_mmap, SYS_mprotect};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Five to check the architecture and load the number; two or five for each call; one for the end.
 */
#define FILTER_SIZE (5 + 2 * COUNT(allowed) + 5 * COUNT(allowed_for_data) + 1)

struct filter {
	struct sock_filter code[FILTER_SIZE];
	unsigned short length;
};

static void add(struct filter *filter, struct sock_filter instruction)
{
	filter->code[filter->length++] = instruction;
}

static void load(struct filter *filter, size_t offset)
{
	add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (__u32)offset));
}

/* Unless the word is this one, pass over so many instructions. */
static void unless(struct filter *filter, unsigned int word, __u8 pass)
{
	add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 0, pass));
}

static void end(struct filter *filter, __u32 how)
{
	add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how));
}

static void allow(struct filter *filter, unsigned int number)
{
	unless(filter, number, 1);
	end(filter, SECCOMP_RET_ALLOW);
}

static void allow_for_data(struct filter *filter, unsigned int number)
{
	const struct sock_filter executable = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);

	unless(filter, number, 4);
	load(filter, offsetof(struct seccomp_data, args[2])); /* the lower half: little endian */
	add(filter, executable);
	end(filter, SECCOMP_RET_KILL_PROCESS);
	end(filter, SECCOMP_RET_ALLOW);
}

static void make(struct filter *filter)
{
	load(filter, offsetof(struct seccomp_data, arch));
	unless(filter, ARCHITECTURE, 1);
	add(filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	end(filter, SECCOMP_RET_KILL_PROCESS);
	load(filter, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(allowed); i++)
		allow(filter, allowed[i]);
	for (size_t i = 0; i < COUNT(allowed_for_data); i++)
		allow_for_data(filter, allowed_for_data[i]);
	end(filter, SECCOMP_RET_KILL_PROCESS);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &header, none))
		return -errno;
	return 0;
}

/*
 * After a fork in a thread that was not the first one malloc() goes on in the arena of that thread.
 * To give memory of it back glibc reads /proc/sys/vm/overcommit_memory; to find another arena when
 * there is no memory left it counts processors.
 */
static void keep_malloc_from_files(void)
{
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_ARENA_MAX, 1);
}

int sandbox_confine(void)
{
	struct filter filter = {};
	struct sock_fprog program = {.filter = filter.code};
	int err = drop_capabilities();

	if (err)
		return err;
	keep_malloc_from_files();
	make(&filter);
	program.len = filter.length;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return -errno;
	return 0;
}
