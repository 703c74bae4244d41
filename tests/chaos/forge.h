/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forger beside the link: segments with the addresses and ports of a live connection, such as a
 * neighbour can send who sees it. None that TCP itself would believe: those end any connection.
 */
#ifndef CHAOS_FORGE_H
#define CHAOS_FORGE_H

#include "packet.h"
#include "rng.h"

/* A SYN, SYN-ACK, FIN or RST in the name of who sent `packet`. The caller frees it. */
struct packet *forge_beside(struct rng *rng, const struct packet *packet,
			    const struct layout *layout, bool from_client);

#endif
