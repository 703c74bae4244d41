// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "runtime/why.h"

static const char *const why_texts[WHYS] = {
    [WHY_PROCESSOR] = "its processor is not supported",
    [WHY_FORMAT] = "it is not a 64-bit little-endian program",
    [WHY_VERSION_UNTOLD] = "its version cannot be found",
    [WHY_VERSION] = "its version is older or newer than those supported",
    [WHY_GO_TABLE] = "its table of functions is missing or damaged",
    [WHY_GO_GOROUTINE] = "the place where it stores the goroutine is not known",
    [WHY_GO_RUNTIME] = "its runtime starts goroutines, or sends over channels, in ways not known",
    [WHY_PYTHON_BUILD] = "its interpreter or its modules are built in a way that is not known",
    [WHY_RUBY_BUILD] = "its interpreter is built in a way that is not known",
    [WHY_RUBY_QUEUES] = "its queues are built in a way that is not known",
    [WHY_JAVA_MACHINE] = "its virtual machine is unknown, or keeps objects in an unknown way",
    [WHY_DOTNET] = "its work goes from thread to thread",
    [WHY_REPLACED] = "a library that it has loaded was deleted or replaced since; restart it",
    [WHY_TOO_LONG] = "reading its program took too much time or memory",
    [WHY_CRASHED] = "its program, or what it has loaded, is damaged: reading it failed",
    [WHY_DAMAGED] = "its program, or what it has loaded, cannot be read",
};

const char *why_text(unsigned int why)
{
	return why < WHYS ? why_texts[why] : NULL;
}
