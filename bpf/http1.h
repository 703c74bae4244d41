/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#ifndef CTXPROP_HTTP1_H
#define CTXPROP_HTTP1_H
#include <linux/types.h>
struct http1 {
	__u32 stub[8];
};
#endif
