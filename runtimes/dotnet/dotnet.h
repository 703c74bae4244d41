/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .NET, by Microsoft's runtimes or Mono. What it works on goes from one thread of its pool to any
 * other, and which one is at what stands in its own memory alone: it is known, to be left alone.
 */
#ifndef CTXPROP_RUNTIMES_DOTNET_DOTNET_H
#define CTXPROP_RUNTIMES_DOTNET_DOTNET_H

#include "inspect/subject.h"
#include "inspect/elf_image.h"

/* The libraries of its runtimes, for subject_open(). */
#define DOTNET_WANTED 3
extern const struct subject_wanted dotnet_wanted[DOTNET_WANTED];

/* Does a process run it, which was started from the file of `image`? 0; -ENOENT: no. */
int dotnet_inspect(const struct subject *subject, struct elf_image *image);

#endif
