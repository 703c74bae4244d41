/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ctxprop doctor --bundle`: one file with what a maintainer needs to know of a host. Nothing of
 * requests is in it: no path, no header field, no span, and none of the log's lines.
 */
#ifndef CTXPROP_CMD_BUNDLE_H
#define CTXPROP_CMD_BUNDLE_H

#include "cmd/command.h"

/*
 * Write the bundle, a tar.gz for root alone, and list on stdout what is in it. Complains itself;
 * returns an exit code.
 */
int bundle_write(const char *file, const struct command_flags *flags);

#endif
