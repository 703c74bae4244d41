/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching the programs of a layer to devices, by TCX or clsact. */
#ifndef CTXPROP_ATTACH_H
#define CTXPROP_ATTACH_H

#include <stdbool.h>

#include "load/hook.h"
#include "load/links.h"

enum attach_way { ATTACH_AUTO, ATTACH_TCX, ATTACH_CLSACT };

/*
 * The programs of a layer and how to attach them where the layer has none yet. ATTACH_AUTO: TCX,
 * save on an egress hook where others have classifiers, for those run behind all TCX programs.
 */
struct attacher {
	const char *layer_dir;
	enum attach_way way;
	int prog_fd[HOOKS][FRAMINGS];
	/* Called before the programs of a framing are used, to load them. 0 or -errno. */
	int (*need)(void *data, enum framing framing);
	void *data;
};

/* "auto", "tcx" or "clsact". */
const char *attach_way_name(enum attach_way way);

/* The way called `name` ("auto", too), or -EINVAL. */
int attach_way_by_name(const char *name);

/*
 * Should programs be attached to this device? NULL: yes; else why not.
 *
 * A packet must pass one egress and one ingress hook per namespace, or it is renumbered twice. So
 * of stacked devices only the lowest one gets programs: the port of a bridge, the slave of a bond,
 * the device below a VLAN. Tunnels get them, too: the device below a tunnel sees other packets.
 */
const char *attach_why_not(const struct link *link);

/*
 * Attach the programs to both hooks of a device, or replace those of the layer in one step. On
 * error nothing new stays attached. 0 or -errno, and the way that was used at each hook.
 */
int attach_device(const struct attacher *attacher, const struct link *link,
		  enum attach_way ret_ways[HOOKS]);

/* The number of a device's hooks at which the layer has a program. */
int attach_count(const char *layer_dir, int ifindex);

/* Drop the pins of a device that is gone. */
void attach_forget(const char *layer_dir, int ifindex);

/* Remove the layer's programs from a device. 0 or -errno. */
int attach_remove(const char *layer_dir, int ifindex);

#endif
