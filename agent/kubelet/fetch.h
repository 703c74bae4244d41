/* SPDX-License-Identifier: Apache-2.0 */
/* GET /pods, one request after the other. */
#ifndef CTXPROP_KUBELET_FETCH_H
#define CTXPROP_KUBELET_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct fetch;

/* As struct kubelet_options has them; they must outlive it. 0 or -ENOMEM. */
int fetch_new(const char *url, const char *token, const char *ca, struct fetch **ret_fetch);

/* NULL is allowed. */
void fetch_free(struct fetch *fetch);

/*
 * The body of an answer with status 200, for the caller to free, of PODS_BYTES_MAX at most, within
 * ten seconds. 0; -ECANCELED: `ends` has become true; or -errno, and `ret_why` says why.
 */
int fetch_text(struct fetch *fetch, const atomic_bool *ends, char **ret_text, size_t *ret_size,
	       char *ret_why, size_t why_size);

/* Wait so many milliseconds, or until fetch_wake(). */
void fetch_wait(struct fetch *fetch, int ms);

/* From another thread: wake who waits, or is in fetch_text(). */
void fetch_wake(struct fetch *fetch);

#endif
