// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver.h"

#define DECLARE(name) extern const struct runtime_driver name##_driver;
RUNTIME_FOLDERS(DECLARE)

#define ADDRESS(name) &name##_driver,
const struct runtime_driver *const runtime_drivers[RUNTIME_FOLDERS_COUNT] = {
    RUNTIME_FOLDERS(ADDRESS)};

const struct runtime_driver *runtime_driver_of(const struct classified *found)
{
	return found->driver ? runtime_drivers[found->driver - 1] : NULL;
}

const char *runtime_driver_name(const struct classified *found)
{
	const struct runtime_driver *driver = runtime_driver_of(found);

	return driver ? driver->name : NULL;
}
