/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of names (name_reader.h), one for each process whose names are needed.
 *
 * What a process costs is limited: a reader may use SANDBOX_CPU_SECONDS in SANDBOX_SECONDS, and has
 * to answer in time. If it does not, or ends, the process is left alone for a pause, which is
 * twice as long each time.
 */
#ifndef CTXPROP_PROFILE_NAMES_NAME_READERS_H
#define CTXPROP_PROFILE_NAMES_NAME_READERS_H

#include "runtimes/names.h"

#define NAME_READERS_MAX     16 /* that run at a time; the one used longest ago makes room */
#define NAME_READERS_PAUSE_S 1  /* the first pause of a process */
#define NAME_READERS_DOUBLED 7  /* how often it is doubled at most: two minutes */

struct name_readers;

/* NULL: no memory. */
struct name_readers *name_readers_new(void);
void name_readers_free(struct name_readers *readers);

/*
 * What name_reader_ask() returns; -EAGAIN: the process is left alone, or no reader can be started.
 */
int name_readers_ask(struct name_readers *readers, const struct named_code *code, char *ret_text);

#endif
