/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Python tells about its interpreter, and which modules it has loaded. */
#ifndef CTXPROP_PYTHON_H
#define CTXPROP_PYTHON_H

#include <stdbool.h>

#include "context/runtime.h"
#include "runtime/library.h"

/* Programs of bpf/probes/task, queue, transport and greenlet.bpf.c, and where they are attached. */
enum python_probe {
	PYTHON_MADE,           /* where a new _asyncio.Task has got its context */
	PYTHON_WOKEN,          /* _asyncio.Future.set_result */
	PYTHON_PUT,            /* _queue.SimpleQueue.put, put_nowait */
	PYTHON_ASKED,          /* _queue.SimpleQueue.get, get_nowait */
	PYTHON_GOT,            /* their return */
	PYTHON_CALLED,         /* uvloop calls PyGILState_Ensure */
	PYTHON_ENTERS,         /* uvloop: Context_Enter */
	PYTHON_WRITES,         /* uvloop.loop.UVStream.write, writelines */
	PYTHON_GREENLET_MADE,  /* greenlet.__init__ */
	PYTHON_GREENLET_FREED, /* a greenlet's tp_dealloc */
	PYTHON_PROBES
};

/* Files that they are in. */
enum python_file {
	PYTHON_INTERPRETER,
	PYTHON_ASYNCIO,  /* the module _asyncio */
	PYTHON_QUEUE,    /* the module _queue */
	PYTHON_UVLOOP,   /* the module uvloop.loop */
	PYTHON_GREENLET, /* the module greenlet._greenlet */
	PYTHON_FILES
};

struct python_site {
	enum python_probe probe;
	enum python_file file;
	__u64 offset; /* in the file */
};

#define PYTHON_SITES 64

struct python {
	struct runtime runtime; /* kind RUNTIME_PYTHON; addresses as in the process */
	unsigned int minor;     /* of the version: 3.<minor> */
	unsigned int site_count;
	struct python_site site[PYTHON_SITES];
	char path[PYTHON_FILES][LIBRARY_PATH_MAX]; /* good for us; empty: not loaded */
};

static inline bool python_has_uvloop(const struct python *python)
{
	return python->path[PYTHON_UVLOOP][0];
}

/*
 * Look at a process that runs the program of `image`. 0, without sites as long as no module that
 * matters is loaded; -ENOENT: it is not Python; -ENOTSUP: it is, but cannot be followed beyond
 * threads (`ret_why`: constant text); or -errno.
 */
int python_inspect(__u32 tgid, struct elf_image *image, struct python *ret_python,
		   const char **ret_why);

#endif
