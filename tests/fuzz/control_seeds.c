// SPDX-License-Identifier: Apache-2.0
/* Writes valid messages into a folder. */
#include <stdio.h>
#include <string.h>

#include "control/codec.h"
#include "control/policy_file.h"
#include "control/policy_model.h"

static const char *const policies[] = {
    "set c add 10.0.0.0/8 fd00::/8\npolicy add to !c action skip\n",
    "policy add dev eth0 from 10.0.0.0/8 to fd00::1 port 80-90 action inject sample 0.5\n",
    "policy add cgroup /a/b host *.example.com action inject root no tracestate no\n",
    "policy add dir in action ignore\npolicy add dir forward action restart\n",
};

static int write_seed(const char *folder, size_t number, const struct nlmsghdr *header)
{
	char path[512];
	FILE *file;
	size_t size = header->nlmsg_len, written;

	snprintf(path, sizeof(path), "%s/seed-%zu", folder, number);
	file = fopen(path, "we");
	if (!file)
		return 1;
	written = fwrite(header, 1, size, file);
	return fclose(file) || written != size;
}

static int write_store(const char *folder, size_t number)
{
	static const struct control_store store = {"/var/lib/ctxprop/x.db", 65024, 42};
	static _Alignas(struct nlmsghdr) char bytes[4096];
	struct control_message message;

	control_begin(&message, bytes, sizeof(bytes), CONTROL_STORE_GET, 0);
	control_put_store(&message, &store);
	return write_seed(folder, number, message.header);
}

int main(int argc, char **argv)
{
	static _Alignas(struct nlmsghdr) char bytes[4096];
	const size_t count = sizeof(policies) / sizeof(policies[0]);

	for (size_t i = 0; argc == 2 && i < count; i++) {
		struct control_message message;
		struct policy_error error;
		struct policy policy;

		if (policy_read(policies[i], strlen(policies[i]), "seed", &policy, &error)) {
			fprintf(stderr, "%s\n", error.text);
			return 1;
		}
		control_begin(&message, bytes, sizeof(bytes), CONTROL_RESTORE, 0);
		for (size_t k = 0; k < policy.set_count; k++)
			control_put_set(&message, &policy.sets[k]);
		for (size_t k = 0; k < policy.count; k++)
			control_put_rule(&message, &policy.rules[k], NULL);
		policy_clear(&policy);
		if (write_seed(argv[1], i, message.header))
			return 1;
	}
	return argc != 2 || write_store(argv[1], count);
}
