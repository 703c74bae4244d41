# SPDX-License-Identifier: Apache-2.0
# A rack application for puma; calls by net/http, a connection each. The target is the plan:
# /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where the calls come from: s this thread,
# t a new thread each, p new threads all at once. Environment: UPSTREAM (host:port).
require "net/http"

UPSTREAM = URI("http://#{ENV.fetch("UPSTREAM")}/")

def call_upstream(truth)
  request = Net::HTTP::Get.new("/")
  request["x-truth"] = truth if truth
  Net::HTTP.start(UPSTREAM.host, UPSTREAM.port) { |http| http.request(request) }
end

def work(before, between, after, calls, mode, truth)
  sleep(before / 1000.0) if before > 0
  if mode == "p"
    Array.new(calls) { Thread.new { call_upstream(truth) } }.each(&:join)
  else
    calls.times do |number|
      sleep(between / 1000.0) if number > 0 && between > 0
      mode == "t" ? Thread.new { call_upstream(truth) }.join : call_upstream(truth)
    end
  end
  sleep(after / 1000.0) if after > 0
end

run(lambda do |env|
  *numbers, mode = env["PATH_INFO"].delete_prefix("/").split("/")
  work(*numbers.map(&:to_i), mode, env["HTTP_X_TRUTH"])
  [200, { "content-type" => "text/plain", "content-length" => "2" }, ["ok"]]
end)
