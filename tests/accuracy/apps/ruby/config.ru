# SPDX-License-Identifier: Apache-2.0
# A rack application for puma; see plan.rb.
require_relative "plan"

run(lambda do |env|
  work_for(env["PATH_INFO"], env["HTTP_X_TRUTH"])
  [200, { "content-type" => "text/plain", "content-length" => "2" }, ["ok"]]
end)
