/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_GZIP_H
#define CTXPROP_GZIP_H

#include <stddef.h>
#include <linux/types.h>

/* Compress as gzip (RFC 1952) does, into memory that is the caller's. Returns 0 or -ENOMEM. */
int gzip(const __u8 *bytes, size_t size, __u8 **ret_bytes, size_t *ret_size);

/*
 * Decompress one gzip member with nothing behind it. Returns 0; -ENOMEM; -EFBIG: more than `most`
 * bytes would come out; -EINVAL: it is not gzip, or is cut off.
 */
int gunzip(const __u8 *bytes, size_t size, size_t most, __u8 **ret_bytes, size_t *ret_size);

#endif
