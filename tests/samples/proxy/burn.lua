-- SPDX-License-Identifier: Apache-2.0
-- What HAProxy burns CPU with for /a: sums of OpenSSL's.
local TEXT, TIMES = string.rep("x", 8000), 150

core.register_action("burn", { "http-req" }, function(txn)
	for _ = 1, TIMES do
		txn.c:sha2(TEXT, 512)
	end
end)
