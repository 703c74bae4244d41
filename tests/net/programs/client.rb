# SPDX-License-Identifier: Apache-2.0
# client.rb URL COUNT: POSTs of 5,000 bytes on one connection.
require "net/http"
url = URI(ARGV[0])
Net::HTTP.start(url.host, url.port) do |http|
  ARGV[1].to_i.times do |i|
    answer = http.post("/#{i}", "n" * 5000)
    abort answer.inspect unless answer.code == "200"
  end
end
