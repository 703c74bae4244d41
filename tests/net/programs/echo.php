<?php
// SPDX-License-Identifier: Apache-2.0
// php -S [::]:PORT echo.php: answers with the fields of the request and the length of its body, as JSON.
$fields = [];
foreach (getallheaders() as $name => $value)
	$fields[] = [$name, $value];
$body = json_encode(["fields" => $fields, "length" => strlen(file_get_contents("php://input"))]);
header("Content-Length: " . strlen($body));
echo $body;
