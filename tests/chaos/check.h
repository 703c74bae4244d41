/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an answer with what was sent. */
#ifndef CHAOS_CHECK_H
#define CHAOS_CHECK_H

#include "ids.h"
#include "response.h"
#include "tally.h"

/* Ids of injected headers seen so far. */
struct seen {
	struct ids traces, spans;
};

/* Judge a finished answer; `content` has read its body. A text in `*ret_why` unless it is ok. */
enum verdict check_answer(const struct plan *plan, const struct response *response,
			  const struct body_reader *content, const struct settings *settings,
			  struct seen *seen, const char **ret_why);

/* Judge the server's line at the end of a tunnel. */
enum verdict check_tunnel(const struct plan *plan, const uint8_t *line, const char **ret_why);

#endif
