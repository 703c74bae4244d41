/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Java: where its threads and futures are, and what the probes keep of them. */
#ifndef CTXPROP_RUNTIMES_JAVA_LAYOUT_H
#define CTXPROP_RUNTIMES_JAVA_LAYOUT_H

#include "runtimes/common.h"

/*
 * How java.net.http's client keeps a call: its exchange with a server (Http1Exchange) belongs to an
 * Exchange, that to a MultiExchange, and the futures that are given to who calls lead there.
 * Classes in 32 bits, and offsets in objects. All is 0 as long as it is not loaded.
 */
struct java_client {
	__u32 exchange_class;
	__u32 publisher_class; /* Http1Exchange.Http1Publisher, which has what is to be sent */
	__u32 task_class;      /* its WriteTask, which sends */
	__u32 future_class;    /* MinimalFuture */
	__u32 signaller_class; /* CompletableFuture.Signaller: what a thread that waits is parked
				  for */
	__u32 pool_class;      /* ThreadPoolExecutor */
	__u32 abort_class;     /* ThreadPoolExecutor.AbortPolicy */
	__u32 forks_class;     /* ForkJoinPool */
	__u32 each_class;      /* ThreadPerTaskExecutor */
	__u16 publisher;       /* WriteTask: its Http1Publisher */
	__u16 exchange;        /* Http1Publisher: its Http1Exchange */
	__u16 state;           /* Http1Exchange.state */
	__u16 ordinal;         /* Enum.ordinal */
	__u16 connection;      /* Http1Exchange.connection */
	__u16 channel;         /* PlainHttpConnection.chan */
	__u16 closed;          /* AbstractInterruptibleChannel.closed */
	__u16 owner;           /* ExchangeImpl.exchange: the Exchange */
	__u16 multi;           /* Exchange.multi */
	__u16 stack;           /* CompletableFuture.stack: who waits for it */
	__u16 cancelable;      /* MinimalFuture.cancelable: leads to the MultiExchange, by */
	__u16 reference;       /* CancelableRef.cancelableRef */
	__u16 referent;        /* Reference.referent */
	__u16 executor;        /* MultiExchange.executor: leads to what the client was given, by */
	__u16 delegate;        /* HttpClientImpl.DelegatingExecutor.delegate */
	__u16 made;            /* MultiExchange.exchange: the Exchange that is made for it */
	__u16 implemented;     /* Exchange.exchImpl: its Http1Exchange */
	__u16 handler;         /* ThreadPoolExecutor.handler: what becomes of what it refuses */
};

/*
 * Where a process has what Java knows of its threads, and of futures: offsets in JavaThread, in
 * objects, and in what describes classes. Classes that are not loaded yet are 0; all is
 * where objects cannot be looked at.
 */
struct runtime_java {
	__u64 slot;          /* address of the number of the virtual machine's TLS module */
	__u64 heap;          /* where the addresses begin that are kept in 32 bits */
	__u64 classes;       /* the same for those of classes */
	__u64 code;          /* where code begins that it has compiled */
	__u64 collections;   /* address of the number of collections of garbage so far */
	__u32 code_size;     /* bytes; 0: not known */
	__u32 future_class;  /* FutureTask, in 32 bits */
	__u32 channel_class; /* SocketChannelImpl */
	__u16 class_shift;
	__u16 layout;         /* Klass._layout_helper: how large its objects are */
	__u16 descriptor;     /* SocketChannelImpl.fdVal */
	__u16 heap_shift;     /* addresses in 32 bits are shifted by so many */
	__u16 variable;       /* of the current JavaThread's address, in the TLS module's block */
	__u16 object;         /* JavaThread._threadObj: address of that of the thread's object */
	__u16 virtual_object; /* JavaThread._vthread: of what runs on it; 0: no such thing */
	__u16 stack;          /* JavaThread._stack_base: address of the stack's beginning */
	__u16 buffer_start;   /* JavaThread: memory for objects that it makes, from here */
	__u16 buffer_top;     /* to here */
	__u16 enters, waits;  /* JavaThread: the monitor that it waits to enter, or waits for */
	__u16 class;          /* of an object's class */
	__u16 native;         /* Thread.eetop: the JavaThread; 0 in virtual ones */
	__u16 number;         /* Thread.tid: used once */
	__u16 blocker;        /* Thread.parkBlocker: the object that it waits for */
	__u16 runner;         /* FutureTask.runner: the thread at work on it */
	__u16 callable;       /* FutureTask.callable: none once it has been run; 0: not known */
	__u16 waiters;        /* FutureTask.waiters: who waits for it: */
	__u16 waiter;         /* FutureTask.WaitNode.thread */
	__u16 holder;     /* Thread.holder: has what it was given, since Java 19; 0: itself has */
	__u16 task;       /* Thread.target, or Thread.FieldHolder.task: what it was given to do */
	__u16 frames;     /* JavaThread: where its functions' stack ends while it waits */
	__u16 job_future; /* CompletableFuture.AsyncRun.dep and AsyncSupply.dep: until it begins */
	__u16 result;     /* CompletableFuture.result */
	__u16 completable_size; /* bytes of a CompletableFuture */
	struct java_client client;
	__u32 run_class;    /* CompletableFuture.AsyncRun: a job of runAsync(), */
	__u32 supply_class; /* AsyncSupply: of supplyAsync() */
};

/* In place of a goroutine's address: the number of a virtual thread of Java, and this. */
#define JAVA_VIRTUAL (1ULL << 63)

#define JAVA_READERS 256 /* a power of two */

/* A thread of Java that has read a request. */
struct java_reader {
	__u32 tid; /* 0: none */
	__u32 reserved;
	__u64 thread; /* address of its JavaThread */
	__u64 native; /* its thread pointer */
	/* The memory for objects that it makes, and how much of that it had used when it read. */
	__u64 buffer, used;
};

/* Map `java_readers`, by tgid: each has the place that its number says. */
struct java_readers {
	struct java_reader reader[JAVA_READERS];
};

/*
 * Map `java_held`, by process and thread: where a thread of Java, which has read a request from a
 * socket that does not block, has the connection on its stack.
 */
struct java_held {
	__u64 request;
	__u64 frames; /* a number made of all words to `end` that are no addresses of objects */
	__u64 start;  /* where functions of Java begin: the first word that is an address of code */
	__u64 at;     /* where the address of an object is that leads to the connection; 0: none */
	__u64 end;    /* the next address of code behind that. Stacks grow downwards. */
	__u32 steps;  /* by which fields: a byte for each, in units of 4 bytes, the first lowest */
	__u32 descriptor; /* of the connection */
	__u32 misses;     /* requests in a row that it was not seen to be at */
	__u32 shared;     /* 1: another request of the same connection was still open then */
};

/*
 * Map `java_begun`, by process and address of an object: what a thread has begun for the request
 * that it works on. A MultiExchange: a call of java.net.http's client; the thread is in send()
 * until it has the answer. A FutureTask: what a virtual thread has just given to another one.
 */
struct java_begun {
	__u64 thread; /* address of its JavaThread */
	struct named named;
	__u64 path;        /* FutureTask: a number for where it was given, JAVA_PATH; not 0 */
	__u32 collections; /* so far: objects are moved by the next one */
	__u32 reserved;
};

/* Which future one that is told by paths like this is, in map `starts`: no address. */
#define JAVA_PATH (1ULL << 63)

#endif
