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
	/* See to it that the programs of a framing are there, before they are used. 0 or -errno. */
	int (*need)(void *data, enum framing framing);
	void *data;
};

/* "auto", "tcx" or "clsact". */
const char *attach_way_name(enum attach_way way);

/* The way called `name` ("auto", too), or -EINVAL. */
int attach_way_by_name(const char *name);

/*
 * Should programs stand at this device? NULL: yes; else why not.
 *
 * A packet must meet one egress and one ingress hook per namespace, or it is renumbered twice.
 * So of stacked devices the lowest one counts: the port rather than the bridge, the slave rather
 * than the bond, the carrier rather than its VLAN. Tunnels count, their carrier sees other packets.
 */
const char *attach_why_not(const struct link *link);

/*
 * Put the programs on both hooks of a device, or replace the ones that the layer has there, which
 * leaves no moment without. On error nothing new stays. 0 or -errno; the way used at each hook.
 */
int attach_device(const struct attacher *attacher, const struct link *link,
		  enum attach_way ret_ways[HOOKS]);

/* At how many of a device's hooks the layer has a program. */
int attach_count(const char *layer_dir, int ifindex);

/* Drop the pins of a device that is gone. */
void attach_forget(const char *layer_dir, int ifindex);

/* Remove the layer's programs from a device. 0 or -errno. */
int attach_remove(const char *layer_dir, int ifindex);

#endif
