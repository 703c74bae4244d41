/* SPDX-License-Identifier: Apache-2.0 */
/* The options of ctxpropd: of the command line, and of its file. */
#ifndef CTXPROP_OPTIONS_H
#define CTXPROP_OPTIONS_H

#include <stdbool.h>
#include <linux/types.h>
#include <sys/types.h>

#include "base/log.h"
#include "daemon/wanted.h"
#include "load/attach.h"
#include "runtime/runtimes.h"
#include "trace/keep.h"
#include "trace/redact.h"
#include "trace/store.h"
#include "web/hosts.h"
#include "web/listen.h"

/* Where options are that the command line does not have; the command line outranks it. */
#define OPTIONS_FILE "/etc/ctxprop/ctxpropd.conf"

struct options {
	const char *config;       /* file of options that was read; NULL: none */
	unsigned int wrong_lines; /* in it */
	bool check;               /* what is configured, and end */
	__u32 flows;  /* room in the flow table; 0: as usual, or less where memory is limited */
	__u64 memory; /* bytes that tables are measured by; 0: the limit that is found */
	unsigned int gc_seconds; /* between two looks for dead flows */
	enum attach_way way;
	enum log_level level;
	gid_t readers;             /* group that may ask for the policy, beside root; 0: none */
	enum publish_mode publish; /* of what changes hands on threads */
	bool ignore_request_ids;   /* x-request-id is no evidence */
	bool http2;                /* requests of HTTP/2 get headers, too */
	bool wait_for_policy;      /* if the policy file is wrong, wait until it changes instead of
				      ending */
	bool drain;                /* what is pinned, and end */
	const char *policy;        /* file, or NULL: the usual one, if it is there */
	struct wanted wanted;      /* network namespaces to work in */
	const char *services;      /* file with what services are called; NULL: none */
	const char *store;         /* file for spans; NULL: they are not stored */
	struct store_limits store_limits;
	const char *profile;    /* what is recorded, see recorder_words.h; NULL: nothing */
	__u32 head_bytes;       /* of each head, for spans */
	struct redact *redact;  /* patterns for what is replaced in requests' texts, or NULL */
	struct keep_rules keep; /* of traces that are not sampled */
	const char *otlp;       /* URL to send spans to; NULL: the environment may name one */
	const char *otlp_headers, *otlp_ca;     /* files, or NULL */
	const char *kubelet;                    /* URL to ask for pods; NULL: nobody is asked */
	const char *kubelet_token, *kubelet_ca; /* files, or NULL */
	bool has_http;
	bool shows_traces;       /* there, too: it was asked for */
	struct web_address http; /* where metrics and a page are */
	struct web_hosts http_hosts;
};

/*
 * What is left to do after the options were read. OPTIONS_WRONG: the command line is;
 * OPTIONS_REFUSED: the file of options is.
 */
enum options_next { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG, OPTIONS_REFUSED, OPTIONS_CHECK };

/*
 * Read the command line and the file of options; help, version and complaints are printed here.
 */
enum options_next options_parse(int argc, char **argv, struct options *ret_options);

#endif
