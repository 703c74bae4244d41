/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_REQUEST_ID_OF_H
#define UNIT_REQUEST_ID_OF_H

#include "request_id.h"

/* The number of a value of x-request-id, all of it. */
static inline __u64 request_id_of(const char *value)
{
	struct request_id id = {};

	request_id_begin(&id);
	for (; *value; value++)
		request_id_feed(&id, (__u8)*value);
	return request_id_number(&id);
}

#endif
