/* SPDX-License-Identifier: Apache-2.0 */
/* One line about the samples of servers that belong to no request. */
#ifndef CTXPROP_CMD_PROFILE_SERVERS_H
#define CTXPROP_CMD_PROFILE_SERVERS_H

#include "profile/servers.h"

/* On standard error; nothing where no sample is a server's. NULL: it is not known. */
void profile_print_servers(const struct servers *servers);

#endif
