// SPDX-License-Identifier: Apache-2.0
/*
 * A library that has what the agent looks for in Node: functions by name, and what V8 publishes for
 * debuggers, with numbers of its own. None of the functions does anything but call back.
 */
#define NAMED(name) __asm__(name)
#define V8(name, value)                                                                            \
	extern const int v8dbg_##name;                                                             \
	const int v8dbg_##name = (value)

/* (Each differs from the others, so that none is merged with another one.) */
#define FUNCTION(word, name)                                                                       \
	void word(void (*then)(void *), void *data) NAMED(name);                                   \
	__attribute__((noinline)) void word(void (*then)(void *), void *data)                      \
	{                                                                                          \
		then(data);                                                                        \
		__asm__ volatile("");                                                              \
	}

FUNCTION(node_timers, "_ZN4node11Environment9RunTimersEP10uv_timer_s")
FUNCTION(node_reads, "_ZN4node15LibuvStreamWrap8OnUvReadElPK8uv_buf_t")
FUNCTION(node_later, "_ZN4node11Environment14CheckImmediateEP10uv_check_s")
FUNCTION(node_loop, "uv_run")

/* Where probes are: they see the arguments. */
#define PROBED(word, name)                                                                         \
	void word(const void *first, const void *second) NAMED(name);                              \
	__attribute__((noinline)) void word(const void *first, const void *second)                 \
	{                                                                                          \
		__asm__ volatile("" : : "r"(first), "r"(second));                                  \
	}

PROBED(node_makes, "uv_tcp_init")
PROBED(node_connects, "uv_tcp_connect")
PROBED(node_closes, "uv_close")
PROBED(node_posts,
       "_ZN4node6worker15MessagePortData18AddToIncomingQueueESt10shared_ptrINS0_7MessageEE")
PROBED(node_reads_message, "_ZN4node6worker7Message11DeserializeEPNS_11EnvironmentEN2v85LocalINS4_"
			   "7ContextEEEPNS5_INS4_5ValueEEE")

V8(TaggedSize, 8);
V8(type_PromiseReaction__PROMISE_REACTION_TYPE, 200);
V8(type_PromiseCapability__PROMISE_CAPABILITY_TYPE, 201);
V8(type_BytecodeArray__BYTECODE_ARRAY_TYPE, 202);
V8(FirstContextType, 300);
V8(LastContextType, 310);
V8(type_JSObject__JS_OBJECT_TYPE, 1000);
V8(type_JSArray__JS_ARRAY_TYPE, 1001);
V8(type_JSFunction__JS_FUNCTION_TYPE, 1002);
V8(type_JSBoundFunction__JS_BOUND_FUNCTION_TYPE, 1003);
V8(type_JSPromise__JS_PROMISE_TYPE, 1004);
V8(type_JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE, 1005);
V8(class_JSFunction__shared__SharedFunctionInfo, 24);
V8(class_JSFunction__context__Context, 32);
V8(class_SharedFunctionInfo__internal_formal_parameter_count__uint16_t, 40);
V8(class_BytecodeArray__data__uintptr_t, 64);
V8(scopeinfo_idx_first_vars, 4);
