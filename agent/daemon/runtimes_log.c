// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "context/runtime.h"
#include "daemon/runtimes_log.h"
#include "runtime/process.h"

void runtimes_log(const struct runtimes_news *news)
{
	char name[PATH_MAX];

	process_name(name, sizeof(name), news->tgid);
	if (news->err)
		log_warning("process %u (%s): no probes in it, its calls begin new traces: %s",
			    news->tgid, name, strerror(-news->err));
	else if (news->kind == RUNTIME_OPAQUE)
		log_warning("process %u (%s) is written in Go, its calls begin new traces: %s",
			    news->tgid, name, news->why);
	else if (news->flags & RUNTIME_COSTLY)
		log_info(
		    "process %u (%s): profilers are not shown its contexts for some minutes, its "
		    "goroutines change more than %d times a second",
		    news->tgid, name, RUNTIME_CHANGES_MAX);
	else
		log_info("process %u (%s): following goroutines of Go 1.%u%s", news->tgid, name,
			 news->minor, news->flags & RUNTIME_POOLS ? ", and its channels" : "");
}
