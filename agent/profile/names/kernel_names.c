// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "base/clock.h"
#include "profile/names/kernel_names.h"

void kernel_names_free(struct kernel_names *names)
{
	kernel_symbols_free(names->symbols);
	kernel_watch_free(names->watch);
	*names = (struct kernel_names){};
}

void kernel_names_watch(struct kernel_names *names)
{
	names->watch = kernel_watch_new();
}

/* Keep changes since the symbols were read, or since `since_ns`. */
static void take_news(struct kernel_names *names, __u64 since_ns)
{
	if (names->watch)
		kernel_watch_look(names->watch, clock_now_ns(),
				  since_ns < names->read_ns ? since_ns : names->read_ns);
}

static bool is_changed(const struct kernel_names *names, __u64 address, __u64 since_ns)
{
	return kernel_watch_changed(names->watch, address, since_ns);
}

/* Would the address have another name, or one at all, if the symbols were read again? */
static bool is_out_of_date(const struct kernel_names *names, __u64 address, __u64 since_ns)
{
	if (kernel_symbols_lasts(names->symbols, address))
		return false;
	return !names->watch || (is_changed(names, address, names->read_ns) &&
				 !is_changed(names, address, since_ns));
}

static bool are_good(const struct kernel_names *names, const __u64 *address, size_t count,
		     __u64 since_ns)
{
	bool good = names->symbols && names->modules == kernel_modules();

	for (size_t i = 0; i < count && good; i++)
		good = !is_out_of_date(names, address[i], since_ns);
	return good;
}

void kernel_names_look(struct kernel_names *names, const __u64 *address, size_t count,
		       __u64 since_ns)
{
	if (!count)
		return;
	take_news(names, since_ns);
	if (are_good(names, address, count, since_ns))
		return;
	kernel_symbols_free(names->symbols);
	names->modules = kernel_modules();
	names->read_ns = clock_now_ns();
	names->symbols = kernel_symbols_new();
	take_news(names, since_ns);
}

const char *kernel_names_get(const struct kernel_names *names, __u64 address, __u64 since_ns)
{
	if (!names->symbols)
		return NULL;
	if (names->watch && !kernel_symbols_lasts(names->symbols, address) &&
	    (is_changed(names, address, names->read_ns) || is_changed(names, address, since_ns)))
		return NULL;
	return kernel_symbols_find(names->symbols, address);
}
