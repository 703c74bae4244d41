// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include "base/stop.h"

bool stop_asked(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGTERM) == 1 || sigismember(&waiting, SIGINT) == 1);
}
