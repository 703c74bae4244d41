#!/usr/bin/ruby
# SPDX-License-Identifier: Apache-2.0
# As burn.py, in Ruby: burn.rb PORT TRUTH. Blocks and functions in C lie in between. The method that burns is made
# for the request, its name tells which, and it goes with it, so that others come to lie where it was. So is the class
# whose method calls it, but that all of these have the same code.
require "socket"

AFTERWARDS_US = 4000
BACKGROUND_US = 2000
NAP_SECONDS = 0.1
PAUSE_SECONDS = 0.01
TRUTH = File.open(ARGV[1], "a")
TRUTH.sync = true

def native_id
  File.readlink("/proc/thread-self").split("/").last
end

def cpu_ns
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

def now_ns
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def tell(start, what)
  TRUTH.write("#{Process.pid} #{native_id} #{start} #{now_ns} #{what}\n")
end

def take_nap(request)
  start = now_ns
  sleep(NAP_SECONDS)
  tell(start, "#{request}.take_nap")
end

def work(request, last)
  name = request == "-" ? "work_#{native_id}" : "work_#{request}"
  eval("def #{name}(last) = while cpu_ns < last && (0...200).sum { |i| i & 7 } do end", TOPLEVEL_BINDING, __FILE__)
  within(name.capitalize) { send(name, last) }
ensure
  Object.send(:remove_method, name)
end

def within(name)
  Object.const_set(name, Class.new { def step = yield })
  Object.const_get(name).new.step { yield }
ensure
  Object.send(:remove_const, name)
end

def burn(request, cpu_us)
  start = now_ns
  last = cpu_ns + cpu_us * 1000
  GC.start # of what others have left
  work(request, last)
  tell(start, request)
end

class Connection
  def initialize(socket)
    @socket = socket
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def serve
    loop { break unless answer(head) }
  rescue IOError, SystemCallError
    nil # the connection is over
  ensure
    @socket.close
  end

  private

  def head
    line = @socket.gets
    nil until @socket.gets.to_s.strip.empty?
    line
  end

  def answer(line)
    return unless line

    _, cpu_us, request, action = line.split[1].split("/")
    burn(request, cpu_us.to_i)
    take_nap(request) if action == "wait"
    @socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    burn("-", AFTERWARDS_US)
    true
  end
end

Thread.new do
  loop do
    burn("-", BACKGROUND_US)
    sleep(PAUSE_SECONDS)
  end
end
TCPServer.open("0.0.0.0", ARGV[0].to_i) do |server|
  server.listen(64)
  loop { Thread.new(server.accept) { |socket| Connection.new(socket).serve } }
end
