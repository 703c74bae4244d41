/* SPDX-License-Identifier: Apache-2.0 */
/* What `ctxprop doctor` finds, line by line. */
#ifndef CTXPROP_CMD_FINDINGS_H
#define CTXPROP_CMD_FINDINGS_H

#include <stdbool.h>
#include <jansson.h>

/* Good, worth knowing, in the way of the main job. */
enum finding { FINDING_OK, FINDING_NOTE, FINDING_BAD };

struct findings {
	json_t *array; /* NULL: text, at once */
	bool bad;
};

__attribute__((format(printf, 4, 5))) void findings_add(struct findings *findings,
							enum finding finding, const char *what,
							const char *format, ...);

#endif
