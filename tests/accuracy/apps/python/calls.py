# SPDX-License-Identifier: Apache-2.0
"""What the Python applications share: a request's plan, and calls to the upstream.

The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in milliseconds. MODE is where
the calls come from: s this thread, one after the other; t a new thread each, one after the other;
p new threads, all at once; q the threads of a pool; e those of one that is made for all calls of the
request; j other threads that take jobs out of a queue; l these, 4 at once: who is done puts in the next;
m new threads, 4 at once: who is done starts the next;
b threads that take several jobs at a time, and call for all of them then; h threads that lay by what
they take, and go on with what was laid by last, by whomever; x a pool that is asked for no job of
its own, but for what was laid by last; y a new thread (Timer) that is asked for that; z a pool of
processes, which a request makes now and then. Environment: UPSTREAM (host:port), COPY
(names of fields that go from the request to its calls), JOBS (Queue: jobs are in a queue.Queue), BACKGROUND_MS (pause between calls that
belong to no request).
"""
import collections
import http.client
import multiprocessing
import os
import queue
import random
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

UPSTREAM = os.environ["UPSTREAM"]
COPY = os.environ.get("COPY", "x-truth").split(",")
NEW_CONNECTION = 0.3  # part of the calls that do not use a kept connection
POOL_SIZE, AT_ONCE = 8, 4
BATCH, BATCHERS, BATCH_MS = 6, 3, 3
LAY_BY_MS = 2  # long enough for others to lay something by
PROCESSES, JOBS = 4, 40  # of a pool of processes, and what it is asked for until the next is made

Plan = collections.namedtuple("Plan", "before between after calls mode")
kept = collections.deque()  # connections to the upstream that any thread may use
pool = ThreadPoolExecutor(POOL_SIZE)
turns, waiting, running = threading.Lock(), collections.deque(), []
processes = []  # that pool, once for each job that it may still be given
jobs = queue.Queue() if os.environ.get("JOBS") == "Queue" else queue.SimpleQueue()
laid_by, takers = collections.deque(), {}


def read_plan(target):
    *numbers, mode = target.strip("/").split("/")
    return Plan(*map(int, numbers), mode)


def copied(get):
    """The fields that go with every call; get(name) is the value in the request or None."""
    return {name: value for name in COPY if (value := get(name))}


def pause(milliseconds):
    if milliseconds:
        time.sleep(milliseconds / 1000)


def connection():
    try:
        if random.random() >= NEW_CONNECTION:
            return kept.pop()
    except IndexError:
        pass
    return http.client.HTTPConnection(UPSTREAM)


def call(fields):
    """One request to the upstream."""
    upstream = connection()
    upstream.request("GET", "/", headers=fields)
    upstream.getresponse().read()
    kept.append(upstream)


def in_thread(fields):
    thread = threading.Thread(target=call, args=(fields,))
    thread.start()
    return thread


def call_in_turn(fields, done):
    call(fields)
    with turns:
        if waiting:
            pool.submit(call_in_turn, *waiting.popleft())
        else:
            running.pop()
    done.release()


def in_turn(fields):
    done = threading.Semaphore(0)
    with turns:
        if len(running) == AT_ONCE:
            waiting.append((fields, done))
        else:
            running.append(pool.submit(call_in_turn, fields, done))
    done.acquire()


def call_and_start_next(fields, done):
    call(fields)
    with turns:
        if waiting:
            start_turn(*waiting.popleft())
        else:
            running.pop()
    done.release()


def start_turn(fields, done):
    threading.Thread(target=call_and_start_next, args=(fields, done)).start()


def in_turn_by_threads(fields):
    done = threading.Semaphore(0)
    with turns:
        if len(running) == AT_ONCE:
            waiting.append((fields, done))
        else:
            running.append(None)
            start_turn(fields, done)
    done.acquire()


def call_for_each():
    while True:
        fields, done = jobs.get()
        call(fields)
        done.release()


def take_several():
    taken = [jobs.get()]
    pause(BATCH_MS)
    try:
        while len(taken) < BATCH:
            taken.append(jobs.get_nowait())
    except queue.Empty:
        pass
    return taken


def call_for_all():
    while True:
        for fields, done in take_several():
            call(fields)
            done.release()


def next_laid_by():
    laid_by.append(jobs.get())
    pause(LAY_BY_MS)
    return laid_by.pop()


def call_for_laid_by():
    while True:
        fields, done = next_laid_by()
        call(fields)
        done.release()


def by_threads(loop, count, fields):
    """One of so many threads that run this loop makes the call."""
    with turns:
        while len(takers.setdefault(loop, [])) < count:
            takers[loop].append(threading.Thread(target=loop, daemon=True))
            takers[loop][-1].start()
    done = threading.Semaphore(0)
    jobs.put((fields, done))
    done.acquire()


def call_for_last():
    pause(random.uniform(0, LAY_BY_MS))
    fields, done = laid_by.pop()
    call(fields)
    done.release()


def by_whoever(fields, start=lambda: pool.submit(call_for_last)):
    done = threading.Semaphore(0)
    laid_by.append((fields, done))
    start()
    done.acquire()


def by_timer(fields):
    by_whoever(fields, threading.Timer(0, call_for_last).start)


def by_process(fields):
    with turns:
        if not processes:
            fork = multiprocessing.get_context("fork")
            processes.extend([ProcessPoolExecutor(PROCESSES, mp_context=fork)] * JOBS)
        job = processes.pop().submit(call, fields)
    job.result()


def work(plan, fields):
    """Everything that a request asks for, until its answer may be sent."""
    pause(plan.before)
    if plan.mode == "e":
        with ThreadPoolExecutor(POOL_SIZE) as made:
            list(made.map(call, [fields] * plan.calls))
    elif plan.mode == "p":
        for thread in [in_thread(fields) for _ in range(plan.calls)]:
            thread.join()
    else:
        one = {"s": call, "t": lambda f: in_thread(f).join(),
               "q": lambda f: pool.submit(call, f).result(), "l": in_turn, "m": in_turn_by_threads,
               "j": lambda f: by_threads(call_for_each, POOL_SIZE, f),
               "b": lambda f: by_threads(call_for_all, BATCHERS, f),
               "h": lambda f: by_threads(call_for_laid_by, POOL_SIZE, f),
               "x": by_whoever, "y": by_timer, "z": by_process}[plan.mode]
        for number in range(plan.calls):
            pause(plan.between if number else 0)
            one(fields)
    pause(plan.after)


def background():
    """Calls of the program's own, for ever, if the environment asks for them."""
    milliseconds = float(os.environ.get("BACKGROUND_MS", 0))

    def loop():
        while True:
            pause(random.uniform(0, 2 * milliseconds))
            call({"x-truth": "none"})
    if milliseconds:
        threading.Thread(target=loop, daemon=True).start()
