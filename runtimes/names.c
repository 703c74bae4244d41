// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>

#include "runtimes/names.h"
#include "runtimes/java/names.h"
#include "runtimes/node/names.h"
#include "runtimes/python/names.h"
#include "runtimes/ruby/names.h"
#include "runtimes/runtime.h"

static const struct runtime_names *const names_of[RUNTIMES] = {
    [RUNTIME_PYTHON] = &python_names,
    [RUNTIME_RUBY] = &ruby_names,
    [RUNTIME_JAVA] = &java_names,
    [RUNTIME_NODE] = &node_names,
};

void names_write(const char *function, const char *file, __u32 line, char *ret_text)
{
	if (line && line <= INT32_MAX)
		snprintf(ret_text, NAMED_TEXT_MAX, "%s\n%s\n%u", function, file, line);
	else
		snprintf(ret_text, NAMED_TEXT_MAX, "%s\n%s", function, file);
}

const struct runtime_names *runtime_names_of(__u8 kind)
{
	return kind < RUNTIMES ? names_of[kind] : NULL;
}
