/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Python tells about its interpreter, and which modules it has loaded. */
#ifndef CTXPROP_RUNTIMES_PYTHON_PYTHON_H
#define CTXPROP_RUNTIMES_PYTHON_PYTHON_H

#include "runtimes/runtime.h"
#include "inspect/library.h"
#include "inspect/probe_sites.h"
#include "runtime/why.h"

/* Programs of task, queue, transport, greenlet and show.bpf.c, and where they are attached. */
enum python_probe {
	PYTHON_MADE,           /* where a new _asyncio.Task has got its context */
	PYTHON_WOKEN,          /* _asyncio.Future.set_result */
	PYTHON_PUT,            /* _queue.SimpleQueue.put, put_nowait */
	PYTHON_ASKED,          /* _queue.SimpleQueue.get, get_nowait */
	PYTHON_GOT,            /* their return */
	PYTHON_APPENDS,        /* collections.deque.append: queue.Queue has a deque */
	PYTHON_POPS,           /* collections.deque.popleft */
	PYTHON_POPPED,         /* its return */
	PYTHON_CALLED,         /* uvloop calls PyGILState_Ensure */
	PYTHON_ENTERS,         /* uvloop: Context_Enter */
	PYTHON_WRITES,         /* uvloop.loop.UVStream.write, writelines */
	PYTHON_GREENLET_MADE,  /* greenlet.__init__ */
	PYTHON_GREENLET_FREED, /* a greenlet's tp_dealloc */
	PYTHON_STEP_ENDS,      /* _asyncio: no task is the current one any more */
	PYTHON_STEP_BEGINS,    /* _asyncio: a task, the third argument, is made the current one */
	PYTHON_SWITCHES,       /* _greenlet: another one has been made the current one */
	PYTHON_LEAVES,         /* the interpreter: a context is left */
	PYTHON_HAS_ENTERED,    /* the interpreter: one has been entered */
	PYTHON_PROBES
};

struct python {
	struct runtime runtime;   /* kind RUNTIME_PYTHON; addresses as in the process */
	unsigned int minor;       /* of the version: 3.<minor> */
	struct probe_sites sites; /* enum python_probe */
};

/* The libraries and modules that are looked into, for subject_open(). */
#define PYTHON_WANTED 5
extern const struct subject_wanted python_wanted[PYTHON_WANTED];

/*
 * Look at a process that runs the program of `image`. 0, without sites as long as no module that
 * matters is loaded; -ENOENT: it is not Python; -ENOTSUP: it is, but cannot be followed beyond
 * threads (`ret_why`); -ESTALE: a module that it has loaded is not to be had any more; or -errno.
 */
int python_inspect(const struct subject *subject, struct elf_image *image,
		   struct python *ret_python, enum why *ret_why);

#endif
