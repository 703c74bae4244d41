// SPDX-License-Identifier: Apache-2.0
/*
 * bench_skmsg CGROUP
 *
 * Attaches skmsg.bpf.c to one cgroup, prints "ready" and holds it until killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "skmsg.skel.h"

static int attach(struct skmsg *skel, int cgroup)
{
	int verdict = bpf_program__fd(skel->progs.bench_skmsg);
	int sockets = bpf_map__fd(skel->maps.sockets);

	if (bpf_prog_attach(verdict, sockets, BPF_SK_MSG_VERDICT, 0))
		return -errno;
	skel->links.bench_sockops = bpf_program__attach_cgroup(skel->progs.bench_sockops, cgroup);
	return skel->links.bench_sockops ? 0 : -errno;
}

int main(int argc, char **argv)
{
	int cgroup = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct skmsg *skel = NULL;

	if (cgroup < 0) {
		fprintf(stderr, "bench_skmsg: expected the directory of a cgroup v2\n");
		return EXIT_FAILURE;
	}
	skel = skmsg__open_and_load();
	if (!skel || attach(skel, cgroup)) {
		fprintf(stderr, "bench_skmsg: cannot attach to %s: %s\n", argv[1], strerror(errno));
		skmsg__destroy(skel);
		close(cgroup);
		return EXIT_FAILURE;
	}
	puts("ready");
	fflush(stdout);
	pause();
	skmsg__destroy(skel);
	close(cgroup);
	return EXIT_SUCCESS;
}
