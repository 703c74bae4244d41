/* SPDX-License-Identifier: Apache-2.0 */
/* What proc_reader.c asks, and the process that reads for it answers: one message each. */
#ifndef CTXPROP_PROC_MESSAGE_H
#define CTXPROP_PROC_MESSAGE_H

#include <limits.h>
#include <stddef.h>

#include "inspect/mapping.h"

#define PROC_BYTES_MAX 65536 /* of one answer */

enum proc_what {
	PROC_FILE,    /* bytes of its file `text` in /proc/PID, from `address` on */
	PROC_MEMORY,  /* `size` bytes of its memory, all or none */
	PROC_OPEN,    /* the file of `mapping`, whose path is `text` */
	PROC_PROGRAM, /* how the file of its program stands in maps */
};

/* Sent up to the end of its text. */
struct proc_question {
	__u32 what;  /* enum proc_what */
	__u32 begin; /* with this process, before all else; 0: go on with the one before */
	__u64 address, size;
	struct mapping mapping; /* without its path */
	char text[PATH_MAX + 64];
};

/* Sent up to the end of its bytes; the file that was opened goes with it. */
struct proc_answer {
	int result;             /* how many bytes there are, or 0; -errno */
	struct mapping mapping; /* without its path */
	char bytes[PROC_BYTES_MAX];
};

#define PROC_QUESTION_MIN offsetof(struct proc_question, text)
#define PROC_ANSWER_MIN   offsetof(struct proc_answer, bytes)

/* Answer until the other end of the socket is closed. 0 or -errno. */
int proc_server_run(int socket);

#endif
