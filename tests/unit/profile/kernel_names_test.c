// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of the kernel: those that stay are not read again, and a BPF program has its name or
 * none, never that of another one. Without the right to load one that is not tried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>

#include "base/clock.h"
#include "profile/names/kernel_names.h"

#define TRIES    40
#define PAUSE_US 50000

/* A program that returns 0, loaded. Its descriptor, or -errno. */
static int load(const char *name)
{
	static const struct bpf_insn code[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
	    {.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, name, "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

/* Where its code is; 0: the kernel does not tell. */
static __u64 address_of(int fd)
{
	__u64 address = 0;
	struct bpf_prog_info info = {.nr_jited_ksyms = 1,
				     .jited_ksyms = (__u64)(uintptr_t)&address};
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	return address;
}

/* Names, watched; NULL in `watch`: without the right to. */
static struct kernel_names watched(void)
{
	struct kernel_names names = {};

	kernel_names_watch(&names);
	return names;
}

static const char *look(struct kernel_names *names, __u64 address, __u64 since_ns)
{
	kernel_names_look(names, &address, 1, since_ns);
	return kernel_names_get(names, address, since_ns);
}

static bool is_of(const char *name, const char *program)
{
	const size_t length = name ? strlen(name) : 0, ending = strlen(program);

	return length > ending && !strncmp(name, "bpf_prog_", 9) &&
	       !strcmp(name + length - ending, program);
}

/*
 * Its name at this moment; NULL if it stays unknown. Where others load programs at the same time it
 * is not known for a moment.
 */
static const char *look_now(struct kernel_names *names, __u64 address)
{
	const char *name = NULL;

	for (int i = 0; i < TRIES && !name; i++) {
		if (i)
			usleep(PAUSE_US);
		name = look(names, address, clock_now_ns());
	}
	return name;
}

/* Is it known once more without being read again? Others' programs may be a reason to read. */
static bool look_reads_nothing(struct kernel_names *names, __u64 address)
{
	for (int i = 0; i < TRIES; i++) {
		const __u64 read_ns = names->read_ns;

		if (look(names, address, clock_now_ns()) && names->read_ns == read_ns)
			return true;
		usleep(PAUSE_US);
	}
	return false;
}

/* The address of a function that every kernel has; 0: addresses are not told. */
static __u64 known_address(char ret_name[64])
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	char line[256], type;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %63s", &address, &type, ret_name) == 3 && address &&
		    !strcmp(ret_name, "vfs_read"))
			break;
	fclose(file);
	return strcmp(ret_name, "vfs_read") != 0 ? 0 : address;
}

/* What stays is read once, whatever else comes and goes. */
static void stays(void **state)
{
	struct kernel_names names = watched();
	char name[64] = "";
	const __u64 address = known_address(name), since_ns = clock_now_ns();
	__u64 read_ns;
	int fd;

	(void)state;
	assert_null(look(&names, 1, since_ns));
	if (!address || !names.watch) {
		kernel_names_free(&names);
		skip();
	}
	assert_string_equal(look(&names, address + 1, since_ns), name);
	read_ns = names.read_ns;
	fd = load("test_other");
	assert_string_equal(look(&names, address + 1, since_ns), name);
	if (fd >= 0)
		close(fd);
	assert_string_equal(look(&names, address + 1, clock_now_ns()), name);
	assert_true(names.read_ns == read_ns);
	kernel_names_free(&names);
}

/* One that was there before is known, and not looked for again. */
static void knows_old_programs(void **state)
{
	const int fd = load("test_old");
	const __u64 address = fd >= 0 ? address_of(fd) : 0;
	struct kernel_names names = watched();

	(void)state;
	if (!address || !names.watch) {
		kernel_names_free(&names);
		skip();
	}
	assert_true(is_of(look_now(&names, address + 1), "_test_old"));
	assert_true(look_reads_nothing(&names, address + 1));
	assert_true(is_of(look_now(&names, address + 1), "_test_old"));
	close(fd);
	kernel_names_free(&names);
}

/* Of one that has come meanwhile nobody knows what was there before; later it has its name. */
static void learns_new_programs(void **state)
{
	struct kernel_names names = watched();
	const __u64 since_ns = clock_now_ns();
	__u64 address, later_ns;
	int fd;

	(void)state;
	assert_null(look(&names, 1, since_ns));
	fd = load("test_new");
	address = fd >= 0 ? address_of(fd) : 0;
	if (!address || !names.watch) {
		kernel_names_free(&names);
		skip();
	}
	assert_null(look(&names, address + 1, since_ns));
	assert_true(is_of(look_now(&names, address + 1), "_test_new"));
	later_ns = clock_now_ns();
	close(fd);
	assert_null(look(&names, address + 1, later_ns));
	kernel_names_free(&names);
}

/* Whatever is loaded into the place of one that has gone does not get its name. */
static void is_not_mistaken(void **state)
{
	struct kernel_names names = watched();
	const __u64 since_ns = clock_now_ns();
	int fd = load("test_first");
	const __u64 address = fd >= 0 ? address_of(fd) : 0;
	const char *name;

	(void)state;
	if (!address || !names.watch) {
		kernel_names_free(&names);
		skip();
	}
	assert_null(look(&names, address + 1, since_ns));
	assert_true(is_of(look_now(&names, address + 1), "_test_first"));
	close(fd);
	for (int i = 0; i < 64; i++) {
		fd = load("test_second");
		assert_true(fd >= 0);
		if (address_of(fd) == address)
			break;
		if (i < 63)
			close(fd);
	}
	name = look(&names, address + 1, since_ns);
	assert_null(name);
	name = look_now(&names, address + 1);
	assert_false(name && is_of(name, "_test_first"));
	if (address_of(fd) == address)
		assert_true(is_of(name, "_test_second"));
	close(fd);
	kernel_names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stays),
	    cmocka_unit_test(knows_old_programs),
	    cmocka_unit_test(learns_new_programs),
	    cmocka_unit_test(is_not_mistaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
