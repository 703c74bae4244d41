<?php
// SPDX-License-Identifier: Apache-2.0
// client.php URL COUNT: POSTs of 5,000 bytes, each on a connection of its own.
for ($i = 0; $i < (int)$argv[2]; $i++) {
	$context = stream_context_create(["http" => ["method" => "POST",
		"header" => "Content-Type: text/plain", "content" => str_repeat("n", 5000)]]);
	if (file_get_contents("{$argv[1]}/$i", false, $context) === false)
		exit(1);
}
