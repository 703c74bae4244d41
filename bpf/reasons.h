/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The one table of reasons: every way a request, a flow or a packet can leave ctxprop.
 * Each row makes an enum member, a counter and the name that `ctxprop stats` and metrics show.
 * Rows are only ever added at the end of their group; a changed order needs a new
 * CTXPROP_ABI_VERSION.
 */
#ifndef CTXPROP_REASONS_H
#define CTXPROP_REASONS_H

#include "engine/model.h"

/* Every outbound request is counted in exactly one row of this group. */
#define CTXPROP_REQUEST_REASONS(X)                                                                 \
	X(INJECTED, "injected", "a traceparent header was added")                                  \
	X(PRESENT, "present", "the request already carries a traceparent")                         \
	X(PAUSED, "paused", "editing is switched off")                                             \
	X(HEAD_LONG, "head-too-long", "the request head is longer than the cap")                   \
	X(NO_PLACE, "no-place", "every line of the head was already sent")                         \
	X(EDITS_FULL, "edits-full", "as many edits as a flow can hold are in flight")              \
	X(WINDOW, "window", "the added bytes do not fit the receive window of the peer")           \
	X(DEEP, "too-deep", "follows another head, too deep inside a large packet")                \
	X(ONE_WAY, "one-way", "the packets of the peer are not seen here")                         \
	X(SHARE_FULL, "share-full",                                                                \
	  "the sender has used up its share of a flow table that is half full")                    \
	X(LEAD_REFUSED, "lead-refused", "the additional packet was refused; nothing was changed")  \
	X(NO_ROOM, "no-room", "the packet could not grow; nothing was changed")                    \
	X(JOINING, "joining", "met in the middle of a connection; the next request is eligible")   \
	X(HOLE, "hole", "bytes of the head were missing or came out of order")                     \
	X(FRAGMENT, "fragment", "the packet is an IP fragment")                                    \
	X(IP_OPTIONS, "ip-options", "the packet has IP options or IPv6 extension headers")         \
	X(SKIPPED, "skipped", "a policy says skip")                                                \
	X(OBSERVED, "observed", "a policy says observe")                                           \
	X(ROOTLESS, "rootless", "a policy says root no, and its cause is not known")               \
	X(HOST_UNKNOWN, "host-unknown",                                                            \
	  "there are policies for hosts, but its host cannot be determined")                       \
	X(RESTARTED, "restarted", "a policy says restart: its traceparent is that of a new trace") \
	X(STRIPPED, "stripped", "a policy says strip: it has no traceparent and no tracestate")    \
	X(STATE_ALONE, "state-alone",                                                              \
	  "it has a tracestate but no traceparent: one of ours would make it valid")               \
	X(H2_CUT, "h2-cut", "HTTP/2: its HEADERS frame begins in an earlier packet")               \
	X(H2_CONTINUATION, "h2-continuation", "HTTP/2: its header block goes on in other frames")  \
	X(H2_LIMIT, "h2-limit", "HTTP/2: more than its frame, or the peer, takes")                 \
	X(H2_TABLE, "h2-table", "HTTP/2: it may have a traceparent that cannot be seen")           \
	X(H2_RULE, "h2-rule", "HTTP/2: a policy says restart or strip, which is for HTTP/1")

/* Why a flow is left alone for good (each flow once). */
#define CTXPROP_FLOW_REASONS(X)                                                                    \
	X(OPEN, "opened", "a connection that a local or forwarded client opened")                  \
	X(JOINED, "joined", "a connection met in the middle, recognised as HTTP/1")                \
	X(TABLE_FULL, "table-full", "no room in the flow table; the flow passes untouched")        \
	X(NOT_HTTP, "not-http", "does not begin with an HTTP/1 request line")                      \
	X(HTTP2, "http2", "HTTP/2 preface")                                                        \
	X(TLS, "tls", "TLS record")                                                                \
	X(CONNECT, "connect", "CONNECT request")                                                   \
	X(UPGRADED, "upgraded", "101 Switching Protocols, or possibly so")                         \
	X(MALFORMED, "malformed", "a head that two servers could read in two ways")                \
	X(LENGTH, "ambiguous-length", "a body length that is invalid or stated twice")             \
	X(WORK_CAP, "work-cap", "too much work in one packet")                                     \
	X(SYN_DATA, "syn-data", "data in the SYN")                                                 \
	X(URGENT, "urgent", "urgent data")                                                         \
	X(TCP_SIGNED, "tcp-signed", "TCP MD5 or TCP-AO: the bytes are signed")                     \
	X(MPTCP, "mptcp", "Multipath TCP")                                                         \
	X(LOST, "lost", "out of step with the stream; waits for a place to join again")            \
	X(TWICE, "twice", "its packets pass here, leave, and come back to pass again")             \
	X(H2_MALFORMED, "h2-malformed", "HTTP/2 frames that cannot be read")                       \
	X(CROWDED, "crowded-out", "flows without a header that made room in a full table")

/* What was done to packets. */
#define CTXPROP_PACKET_REASONS(X)                                                                  \
	X(GROWN, "grown", "packets that were made longer in place")                                \
	X(SPLIT, "split", "packets that were sent behind a lead")                                  \
	X(LEAD, "lead", "leads sent")                                                              \
	X(RESENT, "resent", "retransmissions that carried an edit again")                          \
	X(SEQ, "seq", "outbound packets renumbered")                                               \
	X(ACK, "ack", "inbound acknowledgements renumbered")                                       \
	X(SACK, "sack", "inbound packets whose SACK blocks were renumbered")                       \
	X(ICMP, "icmp", "inbound ICMP errors whose quote was renumbered")                          \
	X(LINGER, "linger", "packets of closed flows renumbered")                                  \
	X(BAD_CHECKSUM, "bad-checksum", "packets with a wrong checksum, not read")                 \
	X(TRUNCATED, "truncated", "packets too short for their own headers")                       \
	X(DROPPED, "dropped", "packets dropped because a change could not be completed")           \
	X(CHANGED, "changed", "packets in which bytes were changed in place")                      \
	X(TWIN, "twin", "packets of a second connection between the same addresses and ports")     \
	X(UNASKED, "unasked", "SYN-ACKs that answer no SYN of ours, or none that is remembered")

/* Every incoming request is counted in one of the first two rows; the others say what came of it.
 */
#define CTXPROP_SERVED_REASONS(X)                                                                  \
	X(SERVED_CHILD, "served-child", "incoming requests with a valid traceparent")              \
	X(SERVED_ROOT, "served-root", "incoming requests without one: a new trace")                \
	X(SERVED_INVALID, "served-invalid", "of these: with a traceparent that is not valid")      \
	X(SERVED_STATE, "served-state", "a tracestate was dropped: not valid, or no room")         \
	X(SERVED_FULL, "served-full", "not followed: no room for another request")                 \
	X(SERVED_UNBOUND, "served-unbound", "not followed: too many requests wait at its socket")  \
	X(SERVED_ENDED, "served-ended", "a whole response was sent")                               \
	X(SERVED_CUT, "served-cut", "the connection ended, or was lost, before the response did")  \
	X(SERVED_LOST, "served-lost", "connections whose requests can no longer be read")          \
	X(SERVED_IGNORED, "served-ignored", "of the new traces: a policy says ignore")             \
	X(SERVED_TABLE, "served-table",                                                            \
	  "of the new traces: HTTP/2, it may have a traceparent that cannot be seen")

/* Records of requests for user space (records.h), where somebody reads them. */
#define CTXPROP_RECORD_REASONS(X)                                                                  \
	X(RECORD_LOST, "record-lost", "records dropped, the ring was full: half a span each")      \
	X(RECORD_SHED, "record-shed",                                                              \
	  "requests of traces that are dropped while the ring fills up")                           \
	X(CONNECTION_LOST, "connection-lost", "records of connections dropped, the ring was full") \
	X(RECORD_PIPELINED, "record-pipelined",                                                    \
	  "calls whose answers are not waited for: too many on one connection")                    \
	X(RECORD_UNREAD, "record-unread", "calls whose answers cannot be read, or no longer")

/* CTXPROP_EVIDENCE and CTXPROP_VETO (engine/model.h) count each injected request by its cause. */

#define CTXPROP_ENUM(id, name, text)          REASON_##id,
#define CTXPROP_EVIDENCE_ENUM(id, name, text) REASON_EVIDENCE_##id,
#define CTXPROP_VETO_ENUM(id, name, text)     REASON_VETO_##id,
enum ctxprop_reason {
	CTXPROP_REQUEST_REASONS(CTXPROP_ENUM) CTXPROP_FLOW_REASONS(CTXPROP_ENUM)
	    CTXPROP_PACKET_REASONS(CTXPROP_ENUM) CTXPROP_SERVED_REASONS(CTXPROP_ENUM)
		CTXPROP_RECORD_REASONS(CTXPROP_ENUM) CTXPROP_EVIDENCE(CTXPROP_EVIDENCE_ENUM)
		    CTXPROP_VETO(CTXPROP_VETO_ENUM) REASON_COUNT,
	REASON_NONE = REASON_COUNT
};
#undef CTXPROP_ENUM
#undef CTXPROP_EVIDENCE_ENUM
#undef CTXPROP_VETO_ENUM

#endif
