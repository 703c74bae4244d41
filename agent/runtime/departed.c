// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "runtime/departed.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
/* The probes tell when a process begins to end: most are gone by then, others by the next sweep. */
#define GONE_NS (NS_PER_SECOND / 10)
#define SWEEPS  2

int departed_open(struct departed *departed)
{
	char path[PINS_PATH_MAX];

	*departed = (struct departed){.sweeps = 1}; /* nobody may have listened before */
	departed->asked_fd = bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "sweep_asked"));
	return departed->asked_fd < 0 ? departed->asked_fd : 0;
}

void departed_close(struct departed *departed)
{
	cleanup_close(&departed->asked_fd);
}

void departed_asked(struct departed *departed)
{
	__u64 soon_ns = clock_now_ns() + GONE_NS;

	departed->sweeps = SWEEPS;
	if (departed->next_ns < soon_ns)
		departed->next_ns = soon_ns;
}

int departed_due_ms(const struct departed *departed)
{
	__u64 now_ns = clock_now_ns();

	if (departed->sweep.goes_on)
		return 0;
	if (!departed->sweeps)
		return -1;
	return now_ns >= departed->next_ns ? 0
					   : (int)((departed->next_ns - now_ns) / NS_PER_MS) + 1;
}

static void begin(struct departed *departed)
{
	__u32 index = 0, none = 0;

	departed->sweeps--;
	/* Set before the sweep, so that a process that ends during it asks for the next one. */
	bpf_map_update_elem(departed->asked_fd, &index, &none, BPF_ANY);
	node_sweep_begin(&departed->sweep);
}

void departed_do(struct departed *departed)
{
	if (departed_due_ms(departed))
		return;
	if (!departed->sweep.goes_on)
		begin(departed);
	node_sweep_step(&departed->sweep);
	if (!departed->sweep.goes_on)
		departed->next_ns = clock_now_ns() + NS_PER_SECOND;
}
