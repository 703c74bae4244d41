// SPDX-License-Identifier: GPL-2.0-only
/*
 * The injector to compare with: sockops puts every client socket of a cgroup into a sockhash, and
 * an sk_msg program adds the header behind the request line. It does no more than it must: no
 * framing, no policy, no look for a header that is already there.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define LINE_MAX   256                /* request lines of the bench are far shorter */
#define FIELD      "traceparent: 00-" /* the ids follow: 32 digits, '-', 16 digits, "-01" */
#define FIELD_SIZE 70

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_SOCKHASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} sockets SEC(".maps");

SEC("sockops")
int bench_sockops(struct bpf_sock_ops *ops)
{
	if (ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB) {
		__u64 cookie = bpf_get_socket_cookie(ops);

		bpf_sock_hash_update(ops, &sockets, &cookie, BPF_ANY);
	}
	return 1;
}

/* Offset behind the first newline; 0: there is none. */
static __always_inline __u32 after_line(const struct sk_msg_md *msg)
{
	const char *data = msg->data, *end = msg->data_end;

	for (__u32 i = 0; i < LINE_MAX; i++) {
		if (data + i + 1 > end)
			break;
		if (data[i] == '\n')
			return i + 1;
	}
	return 0;
}

static __always_inline void put_hex(char *at, __u32 value)
{
	for (int i = 0; i < 8; i++) {
		__u32 digit = (value >> (28 - 4 * i)) & 15;

		at[i] = (char)(digit + (digit < 10 ? '0' : 'a' - 10));
	}
}

static __always_inline void put_field(char *at)
{
	__builtin_memcpy(at, FIELD, 16);
	for (int i = 0; i < 4; i++)
		put_hex(at + 16 + 8 * i, bpf_get_prandom_u32());
	at[48] = '-';
	for (int i = 0; i < 2; i++)
		put_hex(at + 49 + 8 * i, bpf_get_prandom_u32());
	__builtin_memcpy(at + 65, "-01\r\n", 5);
}

SEC("sk_msg")
int bench_skmsg(struct sk_msg_md *msg)
{
	char *data = msg->data;
	__u32 at;

	if (data + 4 > (char *)msg->data_end || (data[0] != 'G' && data[0] != 'P'))
		return SK_PASS;
	at = after_line(msg);
	if (!at || bpf_msg_push_data(msg, at, FIELD_SIZE, 0) ||
	    bpf_msg_pull_data(msg, at, at + FIELD_SIZE, 0))
		return SK_PASS;
	data = msg->data;
	if (data + FIELD_SIZE <= (char *)msg->data_end)
		put_field(data);
	return SK_PASS;
}
