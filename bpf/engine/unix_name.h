/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Names of unix sockets. Those of the system's own services are known to all programs, which ask
 * or log there; none of these services makes calls for a request that it is asked for.
 */
#ifndef CTXPROP_ENGINE_UNIX_NAME_H
#define CTXPROP_ENGINE_UNIX_NAME_H

/* So much of a name tells; what is shorter ends with a zero. */
#define UNIX_NAME_LENGTH 32

/* Is this what the name begins with? Both end with a zero, the name not always. */
static __always_inline int unix_name_begins(const char *name, unsigned int at, const char *with)
{
	for (unsigned int i = 0; i < UNIX_NAME_LENGTH && with[i]; i++)
		if (at + i >= UNIX_NAME_LENGTH || name[at + i] != with[i])
			return 0;
	return 1;
}

static __always_inline int unix_name_in_run(const char *name, unsigned int at)
{
	return unix_name_begins(name, at, "/run/systemd/") ||
	       unix_name_begins(name, at, "/run/dbus/") ||
	       unix_name_begins(name, at, "/run/nscd/") ||
	       unix_name_begins(name, at, "/run/user/") ||
	       unix_name_begins(name, at, "/run/containerd/") ||
	       unix_name_begins(name, at, "/run/docker");
}

/* Is it the name of a service of the system's own? An abstract one begins with a zero. */
static __always_inline int unix_name_is_system(const char name[UNIX_NAME_LENGTH])
{
	return unix_name_in_run(name, 0) ||
	       (unix_name_begins(name, 0, "/var/") && unix_name_in_run(name, 4));
}

#endif
