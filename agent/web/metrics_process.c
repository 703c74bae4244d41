// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "web/metrics_process.h"

static void write_cpu(const struct exposition *exposition)
{
	static const struct family family = {.name = "process_cpu_seconds",
					     .type = "counter",
					     .unit = "seconds",
					     .help = "Processor time of this process."};
	struct rusage usage;
	double seconds;

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "_total", NULL, seconds);
}

/* Pages of all memory, and of that which is resident: /proc/self/statm. */
static void write_memory(const struct exposition *exposition)
{
	static const struct family family = {.name = "process_resident_memory_bytes",
					     .type = "gauge",
					     .unit = "bytes",
					     .help = "Memory of this process, maps not included."};
	FILE *file = fopen("/proc/self/statm", "re");
	char line[128] = "";
	const char *resident;

	if (!file)
		return;
	resident = fgets(line, sizeof(line), file) ? strchr(line, ' ') : NULL;
	fclose(file);
	if (!resident)
		return;
	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "", NULL,
			 (double)strtoul(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE));
}

void metrics_process(const struct exposition *exposition)
{
	write_cpu(exposition);
	write_memory(exposition);
}
