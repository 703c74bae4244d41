// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/drain.h"
#include "load/table.h"
#include "load/control.h"

#define NS_PER_MS   (NS_PER_SECOND / 1000)
#define INTERVAL_NS NS_PER_SECOND

int drain_begin(struct drain *drain)
{
	int err = control_set_paused(sites_layer(drain->sites), true);

	if (err || drain->on)
		return err;
	log_info("draining", "draining: editing stopped");
	drain->on = true;
	drain->empty = false;
	drain->next_ns = clock_now_ns();
	return 0;
}

/* Notify of the progress; `left` NULL: draining was cancelled. */
static void tell(const struct drain *drain, const __u32 *left)
{
	_Alignas(struct nlmsghdr) char bytes[CONTROL_PART_MAX];
	struct control_message message;

	control_begin(&message, bytes, sizeof(bytes), CONTROL_DRAIN, 0);
	if (left)
		control_put_left(&message, *left);
	control_server_notify(drain->server, &message);
}

/* Only after two counts of zero: a packet may have been on its way at the first one. */
static bool look(struct drain *drain)
{
	unsigned long total, shifted;
	__u32 left;
	int err;

	if (control_is_paused(sites_layer(drain->sites)) != 1) {
		log_info("drain-cancelled", "drain cancelled: editing was switched on again");
		drain->on = false;
		tell(drain, NULL);
		return false;
	}
	err = table_count(engine_flows_fd(drain->engine), TABLE_ANYWHERE, &total, &shifted);
	if (err) {
		log_warning("drain-failed", "draining: cannot read the flow table: %s",
			    strerror(-err));
		return false;
	}
	left = (__u32)shifted;
	if (!left && drain->empty)
		return true;
	drain->empty = !left;
	if (left)
		tell(drain, &left);
	return false;
}

int drain_do(struct drain *drain, bool *ret_done)
{
	__u64 now_ns = clock_now_ns();

	*ret_done = false;
	if (!drain->on)
		return -1;
	if (now_ns >= drain->next_ns) {
		*ret_done = look(drain);
		drain->next_ns = now_ns + INTERVAL_NS;
	}
	return drain->on ? (int)((drain->next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS) : -1;
}

int drain_finish(struct drain *drain)
{
	static const __u32 none = 0;
	int err = sites_remove(drain->sites);

	if (err)
		return err;
	log_info("drained", "drained: everything is detached");
	tell(drain, &none);
	return 0;
}
