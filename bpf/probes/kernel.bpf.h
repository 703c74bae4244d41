/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few fields of kernel structures that the probes read. libbpf finds their places in the
 * running kernel's BTF; order and what lies between do not matter here. (What follows three
 * underscores is no part of a name.)
 */
#ifndef CTXPROP_PROBES_KERNEL_H
#define CTXPROP_PROBES_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct atomic___kernel {
	int counter;
};

struct signal_struct {
	struct atomic___kernel live; /* threads that are not over */
};

struct thread_struct {
	unsigned long fsbase; /* x86: the thread pointer */
};

struct mm_struct {
	unsigned long start_brk; /* of the heap; what the program's file holds lies before it */
};

struct cred;

struct task_struct {
	int pid;             /* thread */
	int tgid;            /* process */
	unsigned long nvcsw; /* voluntary context switches */
	struct signal_struct *signal;
	struct thread_struct thread;
	struct files_struct *files;
	struct mm_struct *mm;
	const struct cred *cred; /* each process, and each program that it becomes, has its own */
	struct task_struct *group_leader, *real_parent;
	__u64 start_time;     /* when it was made, ns; monotonic */
	__u64 self_exec_id;   /* changes when it becomes another program */
	__u64 parent_exec_id; /* that of who made it, at that moment */
};

struct list_head {
	struct list_head *next;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct epoll_event___kernel {
	__u32 events;
};

struct epoll_filefd {
	struct file *file;
};

/* An epoll set. */
struct eventpoll {
	struct list_head rdllist; /* items that are ready, or were reported last */
};

/* A file in an epoll set. */
struct epitem {
	struct epoll_filefd ffd;
	struct list_head rdllink; /* among the ready ones */
	struct hlist_node fllink; /* among the sets that the file is in */
	struct eventpoll *ep;     /* the set */
	struct epoll_event___kernel event;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct file {
	unsigned int f_flags;
	struct hlist_head *f_ep;
	struct inode *f_inode;
	const struct cred *f_cred; /* of who has opened it, or accepted the connection */
	void *private_data;        /* of a socket: struct socket */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct socket___kernel {
	struct file *file;
	struct sock *sk;
};

struct net {
	__u64 net_cookie;
};

struct possible_net___kernel {
	struct net *net;
};

struct in6_addr___kernel {
	__u8 bytes[16];
};

struct atomic64___kernel {
	__s64 counter;
};

struct sock_common {
	struct atomic64___kernel skc_cookie;
	unsigned short skc_family;
	unsigned char skc_state;
	__u16 skc_dport; /* network byte order */
	__u16 skc_num;   /* own port, host byte order */
	__u32 skc_daddr, skc_rcv_saddr;
	struct in6_addr___kernel skc_v6_daddr, skc_v6_rcv_saddr;
	struct possible_net___kernel skc_net;
	unsigned long skc_flags; /* a bit for each of enum sock_flags */
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup; /* since 5.15 */
};

struct sock {
	struct sock_common __sk_common;
	struct socket___kernel *sk_socket;
	struct sock_cgroup_data sk_cgrp_data;
	int sk_err;
	__u16 sk_protocol;
	__u16 sk_type;
};

struct inet_sock {
	__u16 inet_sport; /* network byte order; stays when the port is given back */
};

struct unix_address;

struct unix_sock {
	struct unix_address *addr;
};

struct sockaddr_un___kernel {
	char sun_path[108];
};

/* What a program of cgroups is told, as the kernel has it. */
struct bpf_sock_addr_kern {
	const struct sockaddr_un___kernel *uaddr; /* if it is one */
};

struct tcp_sock {
	__u32 copied_seq;    /* the program has read up to here */
	__u32 write_seq;     /* and written up to here */
	__u32 snd_una;       /* the peer has acknowledged up to here */
	__u32 rcv_nxt;       /* and sent up to here */
	__u32 srtt_us;       /* round trip, smoothed: eighths of a microsecond */
	__u32 total_retrans; /* segments */
	__u64 bytes_received, bytes_sent, bytes_retrans, bytes_acked;
};

struct pt_regs___x86 {
	unsigned long r15, r14, r13, r12, bp, bx, r10, di, si, dx, orig_ax, sp;
};

struct pt_regs___arm64 {
	__u64 regs[31], sp;
	__s32 syscallno;
};

#pragma clang attribute pop

#endif
