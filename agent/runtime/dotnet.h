/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .NET, by Microsoft's runtimes or Mono. What it works on goes from one thread of its pool to any
 * other, and which one is at what stands in its own memory alone: it is known, to be left alone.
 */
#ifndef CTXPROP_DOTNET_H
#define CTXPROP_DOTNET_H

#include "runtime/elf_image.h"

/* Does a process run it, which was started from this file? 0; -ENOENT: no; or -errno. */
int dotnet_inspect(__u32 tgid, struct elf_image *image);

#endif
