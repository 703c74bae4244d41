/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has mapped: the lines of /proc/PID/maps (proc_pid_maps(5)). */
#ifndef CTXPROP_MAPPING_H
#define CTXPROP_MAPPING_H

#include <stdbool.h>
#include <linux/types.h>

struct mapping {
	__u64 start, end; /* addresses: the first, and the one behind the last */
	__u64 offset;     /* in the file */
	__u32 major, minor;
	__u64 inode; /* 0: no file is mapped */
	bool executable;
	/*
	 * As the kernel writes it: a line feed is "\012", and " (deleted)" stands behind the name
	 * of a file that was removed. Empty: memory without a name. By now another file may have
	 * this name.
	 */
	const char *path;
};

/* Read one line, which is changed: the path in `ret_mapping` is a part of it. 0 or -EINVAL. */
int mapping_parse(char *line, struct mapping *ret_mapping);

/*
 * Call `visit` for each line of the file "maps" below the directory `proc_fd` (/proc/PID) until it
 * returns other than 0, and return that; -errno: the file cannot be read; 0: at its end.
 */
int mapping_each(int proc_fd, int (*visit)(const struct mapping *mapping, void *data), void *data);

#endif
