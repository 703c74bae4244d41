/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One network namespace in which the daemon's programs are attached. Nothing here keeps the
 * namespace alive, neither a descriptor nor a socket. Its functions are to be called in that
 * namespace.
 */
#ifndef CTXPROP_SITE_H
#define CTXPROP_SITE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "daemon/devices.h"
#include "load/attach.h"
#include "load/engine.h"
#include "pins/pins.h"
#include "load/programs.h"

#define SITE_NAME_MAX 80

struct site {
	struct pins pins;
	__u64 cookie;
	ino_t inode;                   /* 0: the daemon's own namespace */
	int nsid;                      /* LINKS_HERE: the same */
	char path[PATH_MAX];           /* a path to it, which may be gone */
	char name[SITE_NAME_MAX];      /* "blue"; empty: the daemon's own */
	char place[SITE_NAME_MAX + 1]; /* before names of devices in the log: "blue/" or empty */
	int lock_fd;                   /* of the own namespace's pins */
	bool owned;                    /* other pins, under that lock */
	struct engine *engine;
	struct attacher attacher; /* with programs of its own, if they are shared: see entry.h */
	bool entries;
	__u32 entry_ids[PROGRAMS]; /* they are opened when they are used */
	struct devices *devices;
};

/*
 * Begin in the daemon's own namespace, whose layer the engine has made; cookie, pins and lock_fd
 * are set. 0 or -errno, which was logged.
 */
int site_open_home(struct site *site, struct engine *engine, enum attach_way way);

/*
 * Begin in another namespace; cookie, inode, nsid, path and place are set, all else is zero and
 * lock_fd -1. The maps are those of `home`. -EWOULDBLOCK: another daemon has it; 0 or -errno, which
 * was logged.
 */
int site_open(struct site *site, struct engine *engine, const struct site *home);

/* Close the descriptors of its own programs, which are opened again when a device needs them. */
void site_rest(struct site *site);

/*
 * Leave a device alone, or attach to it again, also when the next daemon comes. As devices_leave().
 */
int site_leave_device(struct site *site, const char *name);
int site_take_back_device(struct site *site, const char *name);

/* Remove everything from the namespace; only site_close() may follow. 0 or -errno, which was
 * logged. */
int site_remove(struct site *site);

/* The namespace is gone: remove its pins. */
void site_forget(struct site *site);

/* Frees what is held; programs and pins stay. */
void site_close(struct site *site);

#endif
