# SPDX-License-Identifier: Apache-2.0
# What the servers in Ruby burn CPU with, in methods whose names tell for which endpoint, and the file of truth (TRUTH of the
# environment: one line for each slice). BACKGROUND: a thread burns for nobody.
SLICE_NS, PAUSE, BACKGROUND = 2_000_000, 0.002, 0.02
TRUTH = File.open(ENV.fetch("TRUTH", "/dev/null"), "a").tap { |file| file.sync = true }

def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

def monotonic = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

def spin(ending)
  200.times { |i| i * i } while cpu < ending
end

def burn_a(ending)
  spin(ending)
end

def burn_b(ending)
  spin(ending)
end

def burn_background(ending)
  spin(ending)
end

# For the request with this id, whose first letter is its endpoint, "-": for none.
def burn_slice(id)
  start = monotonic
  ending = cpu + SLICE_NS
  case id[0]
  when "a" then burn_a(ending)
  when "b" then burn_b(ending)
  else burn_background(ending)
  end
  TRUTH.write("#{Process.pid} #{Thread.current.native_thread_id} #{start} #{monotonic} #{id}\n")
end

def burn_on
  loop do
    burn_slice("-")
    sleep(BACKGROUND)
  end
end

def work(id)
  burn_slice(id)
  sleep(PAUSE)
  burn_slice(id)
end
