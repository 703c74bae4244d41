/* SPDX-License-Identifier: Apache-2.0 */
/* What a process runs, by the file that it was started from and what it has loaded. */
#ifndef CTXPROP_CLASSIFY_H
#define CTXPROP_CLASSIFY_H

#include <sys/stat.h>

#include "runtime/golang.h"
#include "runtime/haproxy.h"
#include "runtime/java.h"
#include "runtime/node.h"
#include "runtime/python.h"
#include "runtime/ruby.h"

struct classified {
	struct runtime runtime; /* for map `runtimes` */
	struct stat file;
	struct golang golang;   /* RUNTIME_GO */
	struct python python;   /* RUNTIME_PYTHON */
	struct haproxy haproxy; /* RUNTIME_HAPROXY */
	struct ruby ruby;       /* RUNTIME_RUBY */
	struct node node;       /* RUNTIME_NODE */
	const char *language;   /* for people; NULL: none that is looked into */
	const char *why;        /* why it cannot be followed, or not beyond threads; or NULL */
};

/* What is known of a Go program in this file from an earlier look; NULL: nothing. */
typedef const struct golang *(*classify_known)(const struct stat *file, void *data);

/* 0, or -errno: the process is gone, or its file cannot be read now. */
int classify(__u32 tgid, classify_known known, void *data, struct classified *ret_classified);

#endif
