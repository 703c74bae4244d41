// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/privileges.h"
#include "daemon/follow.h"

static void log_missing(const struct probe_hooks *hooks)
{
	for (unsigned int i = 0; i < hooks->count; i++)
		if (!hooks->event[i].hook[0] && !hooks->event[i].waits)
			log_warning("hook-missing", "no hook for the event '%s' on this kernel: %s",
				    hooks->event[i].event, strerror(-hooks->event[i].err));
}

static void log_hooks(const struct probe_hooks *hooks)
{
	char text[512] = "";

	for (unsigned int i = 0; i < hooks->count; i++) {
		size_t used = strlen(text);

		if (hooks->event[i].hook[0])
			snprintf(text + used, sizeof(text) - used, " %s", hooks->event[i].hook);
	}
	log_info("hooks", "probes at%s", text);
}

void follow_warn(void)
{
	struct privileges_lack lack[PRIVILEGES_LACKS];
	int count = privileges_lacking(0, lack);

	for (int i = 0; i < count; i++)
		log_warning("capability-missing", "no %s: %s", lack[i].name, lack[i].lost);
}

void follow_log(const struct node_report *report)
{
	if (report->replaced[0])
		log_warning(
		    "node-maps-replaced",
		    "the maps of the host belonged to another build (%s) and were made anew; "
		    "daemons of other network namespaces follow requests again after a restart",
		    report->replaced);
	if (report->unpublished[0])
		log_warning("contexts-unpublished",
			    "contexts are not published: %s/%s is left as it is: %s",
			    NODE_TRACES_DIR, NODE_TRACES_NAME, report->unpublished);
	log_missing(&report->hooks);
	if (!report->follows) {
		log_warning("not-following",
			    "requests are not followed, each call begins a new trace");
		return;
	}
	log_info("node-probes",
		 "%s the probes of the host: they see the programs of the whole host, whichever "
		 "network namespaces are edited",
		 report->adopted ? "adopted" : "attached");
	log_hooks(&report->hooks);
}
