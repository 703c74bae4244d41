# SPDX-License-Identifier: Apache-2.0
# What the servers do; calls by net/http, a connection each. The target is the plan:
# /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where the calls come from: s this thread,
# t a new thread each, p new threads all at once, q the threads of a pool, which requests make as
# long as there are too few; l a new thread each, 4 at once: who is done makes one for the next; d the
# same, but who is done goes on with the next itself; a another one, which does all that waits; k this
# thread, on connections that are kept in a queue.
# Environment: UPSTREAM (host:port), BACKGROUND_MS (mean pause between calls that belong to no request).
require "net/http"

UPSTREAM = URI("http://#{ENV.fetch("UPSTREAM")}/")
POOL_SIZE = 8
POOL = []
JOBS = Queue.new
AT_ONCE = 4
TURNS = Mutex.new
RUNNING = []
WAITING = []
SERIAL = []
BUSY = [] # not empty: a thread does all that is in SERIAL
SERIAL_JOBS = Queue.new
KEPT = Queue.new # connections that any thread may use

def call_upstream(truth)
  request = Net::HTTP::Get.new("/")
  request["x-truth"] = truth if truth
  Net::HTTP.start(UPSTREAM.host, UPSTREAM.port) { |http| http.request(request) }
end

def call_by_pool(truth)
  done = Queue.new
  JOBS << [truth, done]
  POOL << Thread.new { loop { job, answer = JOBS.pop; call_upstream(job); answer << true } } if POOL.size < POOL_SIZE
  done.pop
end

def make_caller(truth, done)
  Thread.new do
    call_upstream(truth)
    TURNS.synchronize { WAITING.empty? ? RUNNING.pop : make_caller(*WAITING.shift) }
    done << true
  end
end

def call_in_turn(truth)
  done = Queue.new
  TURNS.synchronize do
    if RUNNING.size == AT_ONCE
      WAITING << [truth, done]
    else
      RUNNING << make_caller(truth, done)
    end
  end
  done.pop
end

def next_that_waits
  TURNS.synchronize do
    RUNNING.pop if WAITING.empty?
    WAITING.shift
  end
end

def call_and_go_on(truth, done)
  Thread.new do
    while truth
      call_upstream(truth)
      done << true
      truth, done = next_that_waits
    end
  end
end

def call_by_who_is_there(truth)
  done = Queue.new
  TURNS.synchronize do
    if RUNNING.size == AT_ONCE
      WAITING << [truth, done]
    else
      RUNNING << call_and_go_on(truth, done)
    end
  end
  done.pop
end

def next_serial
  TURNS.synchronize do
    BUSY.clear if SERIAL.empty?
    SERIAL.shift
  end
end

def call_all
  while (one = next_serial)
    call_upstream(one[0])
    one[1] << true
  end
end

def call_one_by_one(truth)
  done = Queue.new
  first = TURNS.synchronize do
    SERIAL << [truth, done]
    BUSY << true if BUSY.empty?
  end
  SERIAL_JOBS << [method(:call_all)] if first
  done.pop
end

2.times { Thread.new { loop { job, = SERIAL_JOBS.pop; job.call } } }

def kept_connection
  KEPT.pop(true)
rescue ThreadError
  Net::HTTP.start(UPSTREAM.host, UPSTREAM.port)
end

def call_kept(truth)
  http = kept_connection
  request = Net::HTTP::Get.new("/")
  request["x-truth"] = truth if truth
  http.request(request)
  KEPT << http
end

def call_in_background(pause)
  loop do
    sleep(rand * 2 * pause)
    call_kept("none")
  end
end

def call_by(mode, truth)
  case mode
  when "a" then call_one_by_one(truth)
  when "k" then call_kept(truth)
  when "l" then call_in_turn(truth)
  when "d" then call_by_who_is_there(truth)
  when "t" then Thread.new { call_upstream(truth) }.join
  when "q" then call_by_pool(truth)
  else call_upstream(truth)
  end
end

def work(before, between, after, calls, mode, truth)
  sleep(before / 1000.0) if before > 0
  if mode == "p"
    Array.new(calls) { Thread.new { call_upstream(truth) } }.each(&:join)
  else
    calls.times do |number|
      sleep(between / 1000.0) if number > 0 && between > 0
      call_by(mode, truth)
    end
  end
  sleep(after / 1000.0) if after > 0
end

# Work as the path of a target says.
def work_for(path, truth)
  *numbers, mode = path.delete_prefix("/").split("/")
  work(*numbers.map(&:to_i), mode, truth)
end

Thread.new { call_in_background(ENV["BACKGROUND_MS"].to_f / 1000) } if ENV.key?("BACKGROUND_MS")
