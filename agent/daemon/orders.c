// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "daemon/orders.h"
#include "load/table.h"
#include "load/control.h"

bool orders_has(__u16 type)
{
	return type == CONTROL_ATTACH || type == CONTROL_DETACH || type == CONTROL_DRAIN ||
	       type == CONTROL_PAUSED || type == CONTROL_RESUMED;
}

static int take_place(const struct control_place *place, void *data)
{
	*(struct control_place *)data = *place;
	return 0;
}

static int no_site(struct policy_error *error)
{
	return policy_fail(error, -ENOENT,
			   "ctxpropd does not work in that network namespace; what an earlier one "
			   "has left there 'ctxprop --netns NAME detach' removes");
}

static int take_back_device(const struct orders *orders, const struct control_place *place,
			    struct policy_error *error)
{
	struct site *site = sites_enter_site(orders->sites, place->netns);
	int err;

	if (!site)
		return no_site(error);
	err = site_take_back_device(site, place->device);
	sites_leave(orders->sites);
	if (err == -ENODEV)
		return policy_fail(error, err, "there is no device %s", place->device);
	if (err == -EMEDIUMTYPE)
		return policy_fail(error, err,
				   "%s: nothing is attached to it: its packets pass other devices, "
				   "or cannot be read",
				   place->device);
	return err ? policy_fail(error, err, "%s: %s", place->device, strerror(-err)) : 0;
}

static int take_netns(const struct orders *orders, const struct control_place *place,
		      struct policy_error *error)
{
	int err = place->netns ? sites_take(orders->sites, place->netns) : -EINVAL;

	switch (err) {
	case 0:
		return 0;
	case -EPERM:
		return policy_fail(
		    error, err, "ctxpropd was started for one network namespace; see its --netns");
	case -ENOENT:
		return policy_fail(error, err,
				   "there is no process in that namespace, and no name for it");
	case -EWOULDBLOCK:
		return policy_fail(error, err, "another ctxpropd works in that network namespace");
	default:
		return policy_fail(error, err, "%s", strerror(-err));
	}
}

/* How many connections of a namespace are shifted. */
static int count_shifted(const struct orders *orders, __u32 netns, unsigned long *ret_shifted)
{
	unsigned long total;

	return table_count(engine_flows_fd(orders->engine), netns, &total, ret_shifted);
}

static int refuse_damage(unsigned long shifted, const struct control_place *place,
			 struct policy_error *error)
{
	return policy_fail(
	    error, -EBUSY,
	    "%lu live connections%s carry added bytes and %swould break; wait until they "
	    "close, see 'ctxprop drain', or use --force",
	    shifted, place->netns ? " of that namespace" : "",
	    place->device[0] ? "those over this device " : "");
}

/* Would anything break? 0 or -errno with its text. */
static int check_damage(const struct orders *orders, const struct site *site,
			const struct control_place *place, struct policy_error *error)
{
	unsigned long shifted = 0;
	int err = place->force ? 0 : count_shifted(orders, (__u32)site->cookie, &shifted);

	if (err)
		return policy_fail(error, err, "the flow table: %s", strerror(-err));
	return shifted ? refuse_damage(shifted, place, error) : 0;
}

static int detach_entered(const struct orders *orders, struct site *site,
			  const struct control_place *place, struct policy_error *error)
{
	int err = check_damage(orders, site, place, error);

	if (err)
		return err;
	if (place->device[0])
		err = site_leave_device(site, place->device);
	else
		err = sites_drop(orders->sites, site->cookie);
	if (err == -ENODEV)
		return policy_fail(error, err, "there is no device %s", place->device);
	return err ? policy_fail(error, err, "%s", strerror(-err)) : 0;
}

/*
 * Switch editing off everywhere before counting, so that no further flow gets an offset. This is
 * not done for an order that is refused in any case.
 */
static int detach(const struct orders *orders, const struct control_place *place,
		  struct policy_error *error)
{
	const char *layer_dir = sites_layer(orders->sites);
	bool was_paused = control_is_paused(layer_dir) != 0;
	struct site *site = sites_enter_site(orders->sites, place->netns);
	int err;

	if (!site)
		return no_site(error);
	if (!place->device[0] && !site->inode)
		return policy_fail(error, -EINVAL,
				   "that is ctxpropd's own network namespace; use 'ctxprop drain', "
				   "or stop ctxpropd and use 'ctxprop detach'");
	err = check_damage(orders, site, place, error);
	if (!err) {
		control_set_paused(layer_dir, true);
		err = detach_entered(orders, site, place, error);
		control_set_paused(layer_dir, was_paused);
	}
	sites_leave(orders->sites);
	return err;
}

static int carry_out(const struct orders *orders, __u16 type, const struct control_place *place,
		     struct policy_error *error)
{
	if (!place->device[0] && !place->netns)
		return policy_fail(error, -EINVAL, "a device or a network namespace is missing");
	if (type == CONTROL_DETACH)
		return detach(orders, place, error);
	return place->device[0] ? take_back_device(orders, place, error)
				: take_netns(orders, place, error);
}

int orders_do(const struct orders *orders, const struct nlmsghdr *request,
	      struct control_place *ret_place, struct policy_error *error)
{
	const struct control_visitor visitor = {
	    .on_place = take_place, .data = ret_place, .error = error};
	int err;

	*ret_place = (struct control_place){};
	err = control_read(request, &visitor);

	/* Already done: only confirm it. */
	if (err || request->nlmsg_type == CONTROL_PAUSED || request->nlmsg_type == CONTROL_RESUMED)
		return err;
	if (request->nlmsg_type == CONTROL_DRAIN) {
		err = drain_begin(orders->drain);
		return err ? policy_fail(error, err, "%s", strerror(-err)) : 0;
	}
	return carry_out(orders, request->nlmsg_type, ret_place, error);
}
