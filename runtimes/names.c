// SPDX-License-Identifier: Apache-2.0
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

const struct runtime_names *runtime_names_of(__u8 kind)
{
	return kind < RUNTIMES ? names_of[kind] : NULL;
}
