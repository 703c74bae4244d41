// SPDX-License-Identifier: Apache-2.0
/* ctxpropd: trace context for every HTTP request that leaves this network namespace. */
#include <stdio.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "daemon/check.h"
#include "daemon/daemon.h"
#include "daemon/options.h"
#include "profile/keep/recorder_main.h"

enum { EXIT_OK = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 };

int main(int argc, char **argv)
{
	struct options options;

	descriptors_open_standard();
	if (argc && !strcmp(argv[0], RECORD_NAME))
		return recorder_main(argc, argv);
	switch (options_parse(argc, argv, &options)) {
	case OPTIONS_DONE:
		return fflush(stdout) ? EXIT_REFUSED : EXIT_OK;
	case OPTIONS_WRONG:
		return EXIT_USAGE;
	case OPTIONS_REFUSED:
		return EXIT_REFUSED;
	case OPTIONS_CHECK:
		return check_run(&options) || fflush(stdout) ? EXIT_REFUSED : EXIT_OK;
	case OPTIONS_RUN:
		break;
	}
	log_set_level(options.level);
	log_capture_libbpf();
	if (options.config)
		log_info("options-read", "options are read from %s", options.config);
	return daemon_run(&options) ? EXIT_REFUSED : EXIT_OK;
}
