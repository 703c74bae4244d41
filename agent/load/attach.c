// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/if_arp.h>

#include "base/cleanup.h"
#include "load/attach.h"
#include "load/clsact.h"
#include "pins/pins.h"
#include "load/tcx.h"

static const char *const way_names[] = {
    [ATTACH_AUTO] = "auto",
    [ATTACH_TCX] = "tcx",
    [ATTACH_CLSACT] = "clsact",
};

/* Kinds of devices whose packets also pass another device of the namespace, unchanged. */
static const char *const upper_kinds[] = {"bridge", "bond", "team", "vrf", "openvswitch"};
/* The same, if that other device is in this namespace. */
static const char *const stacked_kinds[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"};

static bool is_one_of(const char *kind, const char *const *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *attach_way_name(enum attach_way way)
{
	return way_names[way];
}

int attach_way_by_name(const char *name)
{
	for (size_t i = 0; i < COUNT(way_names); i++)
		if (!strcmp(name, way_names[i]))
			return (int)i;
	return -EINVAL;
}

/* The framing of a device's packets, or -1: one that is not known. */
static int framing_of(__u16 arphrd)
{
	switch (arphrd) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
		return FRAMING_ETHERNET;
	case ARPHRD_NONE:
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	/* Where these devices add an outer header, it is not TCP, so nothing is edited there. */
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return FRAMING_IP;
	default:
		return -1;
	}
}

const char *attach_why_not(const struct link *link)
{
	if (framing_of(link->arphrd) < 0)
		return "its packets are neither Ethernet nor IP";
	if (is_one_of(link->kind, upper_kinds, COUNT(upper_kinds)))
		return "its packets pass the devices below it";
	if (link->stacked && is_one_of(link->kind, stacked_kinds, COUNT(stacked_kinds)))
		return "its packets pass the device below it";
	if (!strcmp(link->kind, "ifb"))
		return "its packets come from another device's hooks";
	return NULL;
}

static const char *link_pin(char *buffer, const char *layer_dir, int ifindex, enum hook hook)
{
	snprintf(buffer, PINS_PATH_MAX, "%s/links/%d-%s", layer_dir, ifindex,
		 hook == HOOK_IN ? "in" : "out");
	return buffer;
}

/* The layer's living TCX link at a hook: its descriptor or -errno. A dead one is unpinned. */
static int open_link(const char *layer_dir, int ifindex, enum hook hook)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(link_pin(path, layer_dir, ifindex, hook));
	int attached_to, err;

	if (fd < 0)
		return fd;
	err = tcx_link_ifindex(fd, &attached_to);
	if (err)
		return err;
	if (attached_to == ifindex)
		return take_fd(&fd);
	unlink(path);
	return -ENOENT;
}

static int attach_tcx(const struct attacher *attacher, int prog_fd, int ifindex, enum hook hook)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = tcx_attach(prog_fd, ifindex, hook);

	if (fd < 0)
		return fd;
	return bpf_obj_pin(fd, link_pin(path, attacher->layer_dir, ifindex, hook));
}

/* The way to attach where the layer has nothing yet. */
static enum attach_way choose_way(enum attach_way wanted, int ifindex, enum hook hook)
{
	if (wanted != ATTACH_AUTO)
		return wanted;
	return hook == HOOK_OUT && clsact_used(ifindex, hook) > 0 ? ATTACH_CLSACT : ATTACH_TCX;
}

static int attach_hook(const struct attacher *attacher, int prog_fd, int ifindex, enum hook hook,
		       enum attach_way *ret_way)
{
	_cleanup_close_ int link = open_link(attacher->layer_dir, ifindex, hook);
	int present = clsact_attached(attacher->layer_dir, ifindex, hook);

	if (link >= 0) {
		*ret_way = ATTACH_TCX;
		return bpf_link_update(link, prog_fd, NULL);
	}
	if (present < 0)
		return present;
	*ret_way = present ? ATTACH_CLSACT : choose_way(attacher->way, ifindex, hook);
	if (*ret_way == ATTACH_CLSACT)
		return clsact_attach(attacher->layer_dir, prog_fd, ifindex, hook);
	return attach_tcx(attacher, prog_fd, ifindex, hook);
}

int attach_device(const struct attacher *attacher, const struct link *link,
		  enum attach_way ret_ways[HOOKS])
{
	/* Ingress first: nothing is edited before acknowledgements can be translated. */
	static const enum hook order[HOOKS] = {HOOK_IN, HOOK_OUT};
	bool existed = attach_count(attacher->layer_dir, link->ifindex) > 0;
	int framing = framing_of(link->arphrd), err = 0;

	if (framing < 0)
		return -EAFNOSUPPORT;
	err = attacher->need(attacher->data, (enum framing)framing);
	for (int i = 0; !err && i < HOOKS; i++)
		err = attach_hook(attacher, attacher->prog_fd[order[i]][framing], link->ifindex,
				  order[i], &ret_ways[order[i]]);
	if (err && !existed)
		attach_remove(attacher->layer_dir, link->ifindex);
	return err;
}

int attach_count(const char *layer_dir, int ifindex)
{
	int count = 0;

	for (enum hook hook = 0; hook < HOOKS; hook++) {
		_cleanup_close_ int link = open_link(layer_dir, ifindex, hook);

		count += link >= 0 || clsact_attached(layer_dir, ifindex, hook) > 0;
	}
	return count;
}

void attach_forget(const char *layer_dir, int ifindex)
{
	char path[PINS_PATH_MAX];

	for (enum hook hook = 0; hook < HOOKS; hook++)
		unlink(link_pin(path, layer_dir, ifindex, hook));
}

/* A pinned link is undone explicitly: a daemon or a tool may hold a descriptor of it. */
static int remove_hook(const char *layer_dir, int ifindex, enum hook hook)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int link = open_link(layer_dir, ifindex, hook);
	int err = link >= 0 ? bpf_link_detach(link) : 0;

	if (err)
		return err;
	unlink(link_pin(path, layer_dir, ifindex, hook));
	return clsact_detach(layer_dir, ifindex, hook);
}

int attach_remove(const char *layer_dir, int ifindex)
{
	bool clsact = clsact_attached(layer_dir, ifindex, HOOK_IN) > 0 ||
		      clsact_attached(layer_dir, ifindex, HOOK_OUT) > 0;
	/* Egress first: nothing is edited any more once acknowledgements are not translated. */
	int err = remove_hook(layer_dir, ifindex, HOOK_OUT);

	if (!err)
		err = remove_hook(layer_dir, ifindex, HOOK_IN);
	return err || !clsact ? err : clsact_remove_if_empty(ifindex);
}
