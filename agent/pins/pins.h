/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where ctxprop's maps, programs and links are pinned, and who may touch them.
 *
 *   /sys/fs/bpf/ctxprop/<netns cookie, hex>/v<abi>/maps/<map name>
 *                                                 /progs/<program id>
 *                                                 /links/<ifindex>-<in|out>    (TCX only)
 *                                          /texts/<name>                         (see texts.h)
 *                                          /owner    the directory whose lock is this one's, too
 *
 * One v<abi> directory is a layer: programs that share maps. Layers of other versions may stand
 * beside ours; each renumbers what it changed.
 */
#ifndef CTXPROP_PINS_H
#define CTXPROP_PINS_H

#include <linux/types.h>

#define PINS_BPFFS    "/sys/fs/bpf"
#define PINS_ROOT     PINS_BPFFS "/ctxprop"
#define PINS_PATH_MAX 256
#define PINS_WHY_MAX  (PINS_PATH_MAX + 144)

/* The pins of one network namespace. */
struct pins {
	__u64 cookie; /* which namespace; 0: the node's */
	char netns_dir[PINS_PATH_MAX];
	char layer_dir[PINS_PATH_MAX]; /* the layer of this build's ABI version */
};

/* Name the pins of the namespace with this cookie. Touches nothing. */
void pins_name(__u64 netns_cookie, struct pins *ret_pins);

/* Mount bpffs at PINS_BPFFS unless it is there. 0 or -errno. */
int pins_mount(void);

/*
 * Make the namespace's directory and lock it, until the returned descriptor is closed. Waits up to
 * a second for another process: one that a daemon was making when it was killed holds the daemon's
 * lock until it has closed what it got.
 * Returns the descriptor, -EWOULDBLOCK when another process holds it, -EPERM when it is not ours
 * (pins_check() says why), or -errno.
 */
int pins_lock(const struct pins *pins);

/* As pins_lock(), but -ENOENT where there are no pins. */
int pins_lock_existing(const struct pins *pins);

/*
 * Are the directories of a namespace, as far as they are there, ours alone? Who else could write
 * there could give us maps and programs of his own. 0, or -EPERM and what is wrong in `ret_why`
 * (PINS_WHY_MAX).
 */
int pins_check(const struct pins *pins, char *ret_why);

/* The same for pins that may be ours beside those of `home`, whose lock the caller holds. */
int pins_lock_beside(const struct pins *pins, const struct pins *home);

/*
 * Take a namespace's pins in addition to those of `home`, whose lock the caller holds: while that
 * is held, others find these locked, too, without a descriptor of their own. Otherwise as
 * pins_lock(), but returns 0.
 */
int pins_own(const struct pins *pins, const struct pins *home);

/* Release them, before the lock of `home` is released. */
void pins_disown(const struct pins *pins);

/* The cookie of the namespace whose running daemon has taken these pins by pins_own(); 0: none. */
__u64 pins_owner(const struct pins *pins);

/* Make the directories of a layer. 0, -EPERM: one of them is not ours, or -errno. */
int pins_make_layer(const char *layer_dir);

/* Move a layer that this build cannot adopt aside, to v<abi>-old<n>. 0 or -errno. */
int pins_set_aside(const struct pins *pins);

/* Remove a directory of pins with all that is pinned below. 0 or -errno. */
int pins_remove_tree(const char *dir);

/*
 * Call `visit` for every entry of a directory, `path` being the whole path and `name` its end.
 * Stops at the first non-zero result and returns it; -errno when the directory cannot be read.
 */
int pins_each(const char *dir, int (*visit)(const char *path, const char *name, void *data),
	      void *data);

/* As pins_each(), for every layer of a namespace. */
int pins_each_layer(const struct pins *pins,
		    int (*visit)(const char *path, const char *name, void *data), void *data);

/* Join path parts into `buffer` of PINS_PATH_MAX bytes; returns it, empty if they do not fit. */
const char *pins_join(char *buffer, const char *dir, const char *name);

/* A file below a layer's maps/; as pins_join(). */
const char *pins_map_path(char *buffer, const char *layer_dir, const char *map);

#endif
