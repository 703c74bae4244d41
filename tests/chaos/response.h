/* SPDX-License-Identifier: Apache-2.0 */
/* The client's pedantic reading of one answer's head. */
#ifndef CHAOS_RESPONSE_H
#define CHAOS_RESPONSE_H

#include "plan.h"

struct response {
	unsigned int status;
	bool has_report;
	struct report report;
	enum body_kind kind;
	uint64_t length;
};

/* Read the complete head of the answer to `plan`. 0, or -EPROTO with a text in `*ret_why`. */
int response_read(const struct head *head, const struct plan *plan, struct response *ret_response,
		  const char **ret_why);

#endif
