/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between compilers and kernels, each with the reason why.
 */
#ifndef CTXPROP_COMPAT_BPF_H
#define CTXPROP_COMPAT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "within.bpf.h"

/*
 * A function that the verifier walks once, on its own, instead of from every place that calls
 * it with everything that may be known there. Its pointers may be NULL, for all it knows. (Weak,
 * since two objects that are linked into one may both have it.)
 */
#define VERIFIED_ALONE __weak __noinline

/* As much of the kernel's struct as is needed; the place is found at load time. */
struct net_device {
	__u32 mtu;
} __attribute__((preserve_access_index));

struct sk_buff {
	struct net_device *dev;
	unsigned char *head;
	__u32 end;
	__u8 ip_summed : 2;
} __attribute__((preserve_access_index));

struct skb_shared_info {
	__u32 gso_type;
} __attribute__((preserve_access_index));

/* Since 6.2, as the two functions below are. */
struct bpf_list_head___since_6_2 {
	__u64 opaque;
} __attribute__((preserve_access_index));

/*
 * The kernel's view of a packet. Two functions that are the same here, since bpftool before libbpf
 * 1.5 cannot link two objects that use one: outbound.bpf.c takes the second.
 */
#ifdef COMPAT_SECOND_OBJECT
/* As libbpf 1.5 declares it. */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

static __always_inline struct sk_buff *packet_of_kernel(struct __sk_buff *skb)
{
	return bpf_rdonly_cast(skb, bpf_core_type_id_kernel(struct sk_buff));
}
#else
extern void *bpf_cast_to_kern_ctx(void *context) __ksym __weak;

static __always_inline struct sk_buff *packet_of_kernel(struct __sk_buff *skb)
{
	return bpf_cast_to_kern_ctx(skb);
}
#endif

/*
 * A field of a structure of the kernel that is known by its address only. That costs a call, but
 * for objects that may take bpf_rdonly_cast(), since 6.2. `address`: a variable.
 */
#ifdef COMPAT_SECOND_OBJECT
#define KERNEL_FIELD(type, address, field)                                                         \
	(bpf_core_type_exists(struct bpf_list_head___since_6_2)                                    \
	     ? ((const type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(type)))   \
		   ->field                                                                         \
	     : BPF_CORE_READ((const type *)(address), field))
#else
#define KERNEL_FIELD(type, address, field) BPF_CORE_READ((const type *)(address), field)
#endif

/* What a packet's transport checksum is, as the kernel's ip_summed says. */
enum packet_csum {
	PACKET_CSUM_UNKNOWN = -1, /* before 6.2 there is no telling */
	PACKET_CSUM_VERIFIED = 1, /* of everything, and right: a device or GRO has said so */
	PACKET_CSUM_PARTIAL = 3,  /* the sum of the pseudo header; the rest is filled in later */
};

static __always_inline int packet_csum(struct __sk_buff *skb)
{
	struct sk_buff *kernel;

	if (!bpf_core_type_exists(struct bpf_list_head___since_6_2))
		return PACKET_CSUM_UNKNOWN;
	kernel = packet_of_kernel(skb);
	return BPF_CORE_READ_BITFIELD(kernel, ip_summed);
}

/* A bit of gso_type: an enumerator that belongs to no enum with a name, so none can be asked for.
 */
#define GSO_FRAGLIST (1u << 18)

/* Has GRO made it of whole packets (ethtool's rx-gro-list)? Of TCP's it does since 6.10. */
static __always_inline int packet_is_list(struct __sk_buff *skb)
{
	struct sk_buff *kernel;
	__u64 shared;

	if (!skb->gso_size || !bpf_core_type_exists(struct bpf_list_head___since_6_2))
		return 0;
	kernel = packet_of_kernel(skb);
	shared = (__u64)kernel->head + kernel->end;
	return !!(KERNEL_FIELD(struct skb_shared_info, shared, gso_type) & GSO_FRAGLIST);
}

/* The MTU of the packet's device; 0: not known. A helper would cost more than all the rest. */
static __always_inline __u32 packet_mtu(struct __sk_buff *skb)
{
	__u32 mtu = 0;

	if (bpf_core_type_exists(struct bpf_list_head___since_6_2))
		return packet_of_kernel(skb)->dev->mtu;
	bpf_check_mtu(skb, 0, &mtu, 0, 0);
	return mtu;
}

#endif
