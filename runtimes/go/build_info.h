/* SPDX-License-Identifier: Apache-2.0 */
/* Section .go.buildinfo: which version of Go built a program. */
#ifndef CTXPROP_RUNTIMES_GO_BUILD_INFO_H
#define CTXPROP_RUNTIMES_GO_BUILD_INFO_H

#include <stddef.h>
#include <linux/types.h>

/* Go 1.<minor> out of the section, of Go 1.18 and later. 0, or -EINVAL. */
int golang_build_minor(const __u8 *data, size_t size, unsigned int *ret_minor);

#endif
