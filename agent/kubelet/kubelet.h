/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the kubelet for the pods of its node (GET /pods), by a thread: twice a minute, and sooner
 * when a pod or a container is missing.
 */
#ifndef CTXPROP_KUBELET_H
#define CTXPROP_KUBELET_H

#include <stdbool.h>

#include "trace/pods.h"

struct kubelet;

struct kubelet_options {
	const char *url;   /* "https://10.0.0.1:10250", see kubelet_url_is_good() */
	const char *token; /* file with a bearer token, read each time; NULL: none is sent */
	const char *ca;    /* file with certificates to trust; NULL: those of the system */

	/* Called by the thread, with `data`. */
	void (*give)(struct pods *pods, void *data); /* which belong to it then */
	bool (*misses)(void *data); /* since this was asked last: is there a pod that we lack? */
	void *data;
};

/* Is it an http or https URL of a host, with nothing behind it? No token goes by http. */
bool kubelet_url_is_good(const char *url);

/*
 * Begin. What goes wrong is logged, once until it goes well again; the pods that are known stay.
 * 0 or -errno.
 */
int kubelet_begin(const struct kubelet_options *options, struct kubelet **ret_kubelet);

/* End what goes on. NULL is allowed. */
void kubelet_end(struct kubelet *kubelet);

#endif
