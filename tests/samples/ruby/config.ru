# SPDX-License-Identifier: Apache-2.0
# For puma: config.ru, with Sinatra where WAY of the environment is "sinatra".
require_relative "burn"

Thread.new { burn_on } if ENV.key?("BACKGROUND")

if ENV["WAY"] == "sinatra"
  require "sinatra/base"

  class App < Sinatra::Base
    %w[/a /b].each do |path|
      get(path) do
        work(request.query_string)
        "ok"
      end
    end
  end
  run App
else
  run(lambda do |env|
    work(env["QUERY_STRING"])
    [200, { "content-type" => "text/plain", "content-length" => "2" }, ["ok"]]
  end)
end
