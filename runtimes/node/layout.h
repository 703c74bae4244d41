/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Node: the functions that tell what its loop is at. */
#ifndef CTXPROP_RUNTIMES_NODE_LAYOUT_H
#define CTXPROP_RUNTIMES_NODE_LAYOUT_H

#include "runtimes/common.h"
#include "runtimes/node/v8_layout.h"

/* Functions of Node, and its objects. */
struct runtime_node {
	struct runtime_range timers; /* node::Environment::RunTimers: calls what they are set for */
	struct runtime_range reads;  /* node::LibuvStreamWrap::OnUvRead: handles what was read */
	struct runtime_range
	    later;                 /* node::Environment::CheckImmediate: what setImmediate() asks */
	struct runtime_range loop; /* uv_run: the event loop; or all of libuv */
	/* node::LibuvStreamWrap::DoTryWrite: asks libuv to write; or zeros */
	struct runtime_range writes;
	/* node::ConnectionWrap::OnConnection: a connection has come; or zeros */
	struct runtime_range accepts;
	/* node::TCPWrap::Instantiate: makes a handle for one that has come, or that another process
	   has sent; or zeros */
	struct runtime_range instantiates;
	/* node::worker::MessagePort::OnMessage: handles what other threads have posted; or zeros */
	struct runtime_range messages;
	struct runtime_v8 v8;
};

#endif
