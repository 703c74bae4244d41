// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/foreign.h"
#include "otlp/answer.h"
#include "otlp/messages.h"
#include "otlp/retry.h"

/* If the body of an answer cannot be parsed, only its status counts. */
static void read_partial(const struct answer *answer, struct post_answer *ret_answer)
{
	otlp_response *response =
	    opentelemetry__proto__collector__trace__v1__export_trace_service_response__unpack(
		NULL, answer->size, answer->body);

	if (response && response->partial_success) {
		long long rejected = response->partial_success->rejected_spans;

		ret_answer->rejected = rejected > 0 ? (size_t)rejected : 0;
		foreign_copy(ret_answer->why, sizeof(ret_answer->why),
			     response->partial_success->error_message);
	}
	if (response)
		opentelemetry__proto__collector__trace__v1__export_trace_service_response__free_unpacked(
		    response, NULL);
}

/* By the specification, only these are to be retried. */
static bool is_retryable(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

void answer_judge(const struct answer *answer, time_t now, struct post_answer *ret_answer)
{
	*ret_answer = (struct post_answer){.retry_after_ms = RETRY_NEVER};
	if (answer->status < 200) {
		ret_answer->result = answer->sent ? POST_UNCONFIRMED : POST_LATER;
		foreign_copy(ret_answer->why, sizeof(ret_answer->why), answer->error);
	} else if (answer->status < 300 && !(answer->sent && answer->whole)) {
		char error[sizeof(ret_answer->why) - 64];

		/* What it has left out is not known, nor whether it goes on reading. */
		ret_answer->result = POST_UNCONFIRMED;
		foreign_copy(error, sizeof(error), answer->error);
		snprintf(ret_answer->why, sizeof(ret_answer->why),
			 "HTTP status %ld, and no whole answer: %s", answer->status, error);
	} else if (answer->status < 300) {
		ret_answer->result = POST_ACCEPTED;
		read_partial(answer, ret_answer);
	} else {
		ret_answer->result = is_retryable(answer->status) ? POST_LATER : POST_REFUSED;
		snprintf(ret_answer->why, sizeof(ret_answer->why), "HTTP status %ld",
			 answer->status);
	}
	if (ret_answer->result == POST_LATER && answer->retry_after)
		ret_answer->retry_after_ms = retry_after_ms(answer->retry_after, now);
}
