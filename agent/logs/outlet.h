/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_LOGS_OUTLET_H
#define CTXPROP_LOGS_OUTLET_H

#include <stddef.h>

/*
 * Write all bytes, however long it takes. Meanwhile `news` is called whenever `news_fd` is
 * readable, so that signals are handled even if nobody reads the output. 0 or -errno.
 */
int outlet_write(int fd, const char *bytes, size_t size, int news_fd, void (*news)(void *data),
		 void *data);

#endif
