# SPDX-License-Identifier: Apache-2.0
# webrick.rb ADDRESS PORT: a thread per connection; see plan.rb.
require "webrick"
require_relative "plan"

quiet = WEBrick::Log.new($stderr, WEBrick::BasicLog::ERROR)
server = WEBrick::HTTPServer.new(BindAddress: ARGV[0], Port: ARGV[1], MaxClients: 128,
                                 Logger: quiet, AccessLog: [])
server.mount_proc("/") do |request, response|
  work_for(request.path, request["x-truth"])
  response["Content-Type"] = "text/plain"
  response.body = "ok"
end
server.start
