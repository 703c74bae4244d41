/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `ctxprop` and `ctxpropd` say to each other: netlink messages over NETLINK_USERSOCK, within
 * one network namespace. nlmsghdr, then control_header, then attributes; flags, acknowledgements,
 * multi-part answers and extended acknowledgements are used as rtnetlink uses them.
 */
#ifndef CTXPROP_CONTROL_PROTOCOL_H
#define CTXPROP_CONTROL_PROTOCOL_H

#include <linux/netlink.h>
#include <linux/types.h>

/* Where the daemon listens, unless the port is taken: "ctxp" (see port.h). */
#define CONTROL_PORT    0x63747870
#define CONTROL_VERSION 1

/* The multicast group that hears of changes: bit 0, number 1. */
#define CONTROL_GROUP 1
/* The number of the group that both ends enter to show that they have CAP_NET_ADMIN (right.h). */
#define CONTROL_RIGHT_GROUP 2
#define CONTROL_RIGHT_BIT   (1U << (CONTROL_RIGHT_GROUP - 1))

/* The largest message: a whole policy. */
#define CONTROL_MESSAGE_MAX (1024 * 1024)
/* The largest part of an answer. */
#define CONTROL_PART_MAX 16384

struct control_header {
	__u8 version;
	__u8 reserved[3]; /* zero */
};

enum control_type {
	/* These two: one CONTROL_RULE; with NLM_F_ECHO it comes back as it has become. */
	CONTROL_RULE_NEW = NLMSG_MIN_TYPE,
	CONTROL_RULE_DELETE, /* only its priority counts */
	CONTROL_RULE_GET,    /* dump: CONTROL_RULE_NEW, the built-in ones too */
	CONTROL_RULE_FLUSH,  /* all rules */
	CONTROL_SET_NEW,     /* one CONTROL_SET: make it, add its networks */
	CONTROL_SET_DELETE,  /* one CONTROL_SET: take its networks out; none said: flush it */
	CONTROL_SET_GET,     /* dump: CONTROL_SET_NEW, a large set in several parts */
	CONTROL_RESTORE,     /* any number of CONTROL_SET and CONTROL_RULE: the whole policy */
	CONTROL_ATTACH,      /* one CONTROL_PLACE */
	CONTROL_DETACH,      /* one CONTROL_PLACE */
	CONTROL_DRAIN,     /* nothing; as news: CONTROL_LEFT, 0 at the end, none: it was given up */
	CONTROL_PAUSED,    /* nothing; said when it was done: editing is off */
	CONTROL_RESUMED,   /* likewise: it is on */
	CONTROL_STORE_GET, /* dump: itself, with one CONTROL_STORE */
	CONTROL_TYPE_END,
};

/* Attributes of a message. */
enum {
	CONTROL_RULE = 1,
	CONTROL_SET,
	CONTROL_PLACE,
	CONTROL_LEFT, /* __u32: connections whose numbers are shifted */
	CONTROL_STORE,
	CONTROL_ATTRIBUTES,
};

/* Attributes of the daemon's store; none of them: it has none. */
enum {
	CONTROL_STORE_PATH = 1, /* text, absolute in the daemon's mount namespace */
	CONTROL_STORE_DEVICE, /* __u64, of the file as stat(2) tells it; without: it is not there */
	CONTROL_STORE_INODE,  /* __u64, likewise */
	CONTROL_STORE_ATTRIBUTES,
};

/* Attributes of a rule. */
enum {
	CONTROL_RULE_PRIO = 1,      /* __u32; new without: behind all others */
	CONTROL_RULE_DIR,           /* __u8, enum policy_dir */
	CONTROL_RULE_ACTION,        /* __u8, enum policy_action */
	CONTROL_RULE_FROM,          /* nested */
	CONTROL_RULE_TO,            /* nested */
	CONTROL_RULE_PORTS,         /* two __u16: first, last; repeated; none: any */
	CONTROL_RULE_DEVICE,        /* text */
	CONTROL_RULE_CGROUP,        /* text */
	CONTROL_RULE_HOST,          /* text */
	CONTROL_RULE_SAMPLE,        /* __u32, millionths */
	CONTROL_RULE_NO_ROOT,       /* flag */
	CONTROL_RULE_NO_TRACESTATE, /* flag */
	CONTROL_RULE_BUILTIN,       /* flag; only in answers, as is the next */
	CONTROL_RULE_HITS,          /* __u64: requests that it has decided */
	CONTROL_RULE_ATTRIBUTES,
};

/* Attributes of one end of a rule; either a network or a set. */
enum { CONTROL_END_PREFIX = 1, CONTROL_END_SET, CONTROL_END_NEGATED, CONTROL_END_ATTRIBUTES };

/* Attributes of a set. */
enum { CONTROL_SET_NAME = 1, CONTROL_SET_PREFIX /* repeated */, CONTROL_SET_ATTRIBUTES };

/* Attributes of a place: a device, or without one a whole network namespace. */
enum {
	CONTROL_PLACE_DEVICE = 1, /* text */
	CONTROL_PLACE_NETNS,      /* __u64, cookie; without: the daemon's own namespace */
	CONTROL_PLACE_FORCE,      /* flag: although connections break */
	CONTROL_PLACE_ATTRIBUTES,
};

/* A network in an attribute. */
struct control_prefix {
	__u8 address[16];
	__u8 bits;
	__u8 reserved[3]; /* zero */
};

#endif
