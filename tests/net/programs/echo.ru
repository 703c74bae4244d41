# SPDX-License-Identifier: Apache-2.0
# puma -b tcp://[::]:PORT echo.ru: answers with the fields of the request and the length of its body, as JSON.
require "json"

run(lambda do |env|
  fields = env.select { |name, _| name.start_with?("HTTP_") }
              .map { |name, value| [name.delete_prefix("HTTP_").tr("_", "-"), value] }
  body = JSON.generate({fields: fields, length: env["rack.input"].read.length})
  [200, {"content-length" => body.bytesize.to_s}, [body]]
end)
