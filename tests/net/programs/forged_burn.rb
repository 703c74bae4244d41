# SPDX-License-Identifier: Apache-2.0
# Burns CPU in burn_forged() once a line was read; says where the thread's execution context is.
require "fiddle"
require "socket"

def burn_forged
  number = 0
  while true
    number = (number + 1) % 1_000_003
  end
end

GC.disable
$stdout.sync = true
$listener = TCPServer.new("127.0.0.1", 0)
puts "listening"
$stdin.gets
puts "ready #{Fiddle::Pointer.new(Fiddle::Handle::DEFAULT["ruby_current_ec"])[0, 8].unpack1("Q")}"
burn_forged
