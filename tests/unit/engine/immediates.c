// SPDX-License-Identifier: Apache-2.0
#include "immediates.h"

void immediates_read(struct immediates *im, const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	im->counts.events++;
	if (im->is_followed && w)
		later_reads_now(&im->later, w, im->number);
	im->number++; /* of whatever handles it */
}

void immediates_miss(struct immediates *im)
{
	im->counts.events++;
	im->number++;
}

void immediates_respond(struct immediates *im, const struct worker_key *thread, uint64_t request)
{
	struct worker *w = worker_lookup(thread);

	if (im->is_followed && w && turn_goes_on(&w->turn))
		later_learns(&im->later, w, request);
}

uint64_t immediates_make(struct immediates *im)
{
	return ++im->number;
}

void immediates_begin(struct immediates *im, const struct worker_key *thread)
{
	struct worker *w = worker_lookup(thread);

	im->counts.turns++;
	if (im->is_wanted && !im->is_followed && w && !im->delay--) {
		im->is_followed = true;
		w->flags |= WORKER_LATER;
	}
	if (im->is_followed)
		later_is_over(&im->later, &im->counts, im->number);
}

enum actor_phase immediates_phase(struct immediates *im, const struct worker_key *thread,
				  uint64_t number, bool by_tick)
{
	struct later_running now = {.runs = number};
	struct worker *w = worker_lookup(thread);

	im->is_wanted = true;
	if (by_tick)
		now = (struct later_running){.runs = immediates_make(im), .maker = number};
	if (!im->is_followed || !w)
		return PHASE_LATER;
	return later_asks(&im->later, w, process_lookup(&thread->tgid),
			  later_find_running(&im->later, &now));
}
