# SPDX-License-Identifier: Apache-2.0
# fibers.rb PORT: Async::HTTP, the server within Falcon: a fiber for each request, in one thread. BACKGROUND: a fiber burns for
# nobody.
require "async"
require "async/http/endpoint"
require "async/http/server"
require_relative "burn"

endpoint = Async::HTTP::Endpoint.parse("http://0.0.0.0:#{ARGV[0]}")
server = Async::HTTP::Server.for(endpoint) do |request|
  work(request.path.split("?").last)
  Protocol::HTTP::Response[200, { "content-length" => "2" }, ["ok"]]
end

Async do |task|
  task.async { burn_on } if ENV.key?("BACKGROUND")
  server.run
end
