# SPDX-License-Identifier: Apache-2.0
# queue.rb ADDRESS PORT WHAT: one thread reads, others take the requests from a queue; see plan.rb.
# WHAT goes with a request: "socket", on which who has worked for it writes the response; or
# "number" of the connection, for another thread to do so: then no worker has anything to do with
# the connection; or "heap": a number, too, and workers lay by what they take, and go on with what
# was laid by last, by whomever.
require "socket"
require_relative "plan"

WORKERS = 16
READ_SIZE = 65536
OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

REQUESTS = Queue.new
RESPONSES = Queue.new
LAID_BY = []
LONG_ENOUGH = 0.002 # seconds, for others to lay something by
CONNECTIONS = {} # by number; what has been read of the next request

# The target's path and x-truth of a head.
def parse(head)
  [head[/\A\S+ (\S+)/, 1], head[/^x-truth: *(\S+)/i, 1]]
end

def read_from(connection)
  CONNECTIONS[connection] << connection.read_nonblock(READ_SIZE)
  return unless CONNECTIONS[connection].end_with?("\r\n\r\n")
  head = CONNECTIONS[connection]
  CONNECTIONS[connection] = +""
  REQUESTS << [ARGV[2] == "socket" ? connection : connection.fileno, head]
rescue IO::WaitReadable
  nil
rescue EOFError, SystemCallError
  CONNECTIONS.delete(connection)
  connection.close
end

def read_all(listener)
  loop do
    ready, = IO.select([listener, *CONNECTIONS.keys])
    ready.each do |one|
      next read_from(one) unless one == listener
      accepted = listener.accept
      accepted.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      CONNECTIONS[accepted] = +""
    end
  end
end

def respond(connection)
  connection.write(OK)
rescue SystemCallError, IOError
  nil
end

def next_request
  return REQUESTS.pop unless ARGV[2] == "heap"
  LAID_BY << REQUESTS.pop
  sleep(LONG_ENOUGH)
  LAID_BY.pop
end

def serve
  loop do
    connection, head = next_request
    work_for(*parse(head))
    ARGV[2] == "socket" ? respond(connection) : RESPONSES << connection
    connection = nil
  end
end

# The reader may close it meanwhile: then it has none.
def number_of(connection)
  connection.fileno
rescue IOError
  nil
end

def write_all
  loop do
    number = RESPONSES.pop
    connection = CONNECTIONS.keys.find { |one| number_of(one) == number }
    respond(connection) if connection
  end
end

Thread.report_on_exception = true
WORKERS.times { Thread.new { serve } }
Thread.new { write_all }
read_all(TCPServer.new(ARGV[0], ARGV[1].to_i))
