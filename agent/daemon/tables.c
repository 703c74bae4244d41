// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "base/memory_limit.h"
#include "daemon/tables.h"

#define MIB (1024.0 * 1024.0)

int tables_choose(const struct options *options, struct sizes *ret_sizes)
{
	__u64 memory = options->memory ? options->memory : memory_limit();
	int err = sizes_choose(memory, options->flows, ret_sizes);

	if (err)
		return err;
	if (ret_sizes->most > memory / 2)
		log_warning("memory-limited",
			    "memory is limited to %.0f MiB: when all tables are full they take "
			    "%.1f MiB, more than half of it",
			    (double)memory / MIB, (double)ret_sizes->most / MIB);
	if (ret_sizes->halved)
		log_info("memory-limited",
			 "memory is limited to %.0f MiB: tables have 1/%u of their usual size and "
			 "room for %u flows; when all are full they take %.1f MiB",
			 (double)memory / MIB, 1u << ret_sizes->halved, ret_sizes->flows,
			 (double)ret_sizes->most / MIB);
	return 0;
}

void tables_tell_adopted(const struct sizes *wanted, __u32 flows, __u32 halved)
{
	if (flows != wanted->flows)
		log_warning("tables-kept",
			    "the pinned flow table has room for %u flows; it gets room for %u "
			    "after `ctxprop detach`",
			    flows, wanted->flows);
	if (halved != wanted->halved)
		log_warning("tables-kept",
			    "the pinned tables of the host have 1/%u of their usual size, which is "
			    "%s than they would be made now: that changes after `ctxprop detach` "
			    "in all network namespaces",
			    1u << halved, halved > wanted->halved ? "smaller" : "larger");
}
