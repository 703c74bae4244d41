<?php
// SPDX-License-Identifier: Apache-2.0
/*
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE s: the http stream
 * wrapper, one call after the other; c: curl, one after the other on one handle; p: curl, all at
 * once. Environment: UPSTREAM (host:port).
 */
$upstream = 'http://' . getenv('UPSTREAM') . '/';
$truth = $_SERVER['HTTP_X_TRUTH'] ?? '';
$fields = $truth === '' ? [] : ["x-truth: $truth"];

function pause(int $milliseconds): void
{
	if ($milliseconds)
		usleep($milliseconds * 1000);
}

function handle(string $upstream, array $fields): CurlHandle
{
	$curl = curl_init($upstream);
	curl_setopt_array($curl, [CURLOPT_HTTPHEADER => $fields, CURLOPT_RETURNTRANSFER => true]);
	return $curl;
}

function by_stream(string $upstream, array $fields): void
{
	$context = stream_context_create(['http' => ['header' => $fields]]);
	if (file_get_contents($upstream, false, $context) !== 'ok')
		http_response_code(500);
}

function at_once(string $upstream, array $fields, int $calls): void
{
	$multi = curl_multi_init();
	for ($i = 0; $i < $calls; $i++)
		curl_multi_add_handle($multi, handle($upstream, $fields));
	do {
		curl_multi_exec($multi, $running);
		curl_multi_select($multi, 0.1);
	} while ($running);
}

[, $before, $between, $after, $calls, $mode] = explode('/', $_SERVER['REQUEST_URI']);
pause((int)$before);
if ($mode === 'p')
	at_once($upstream, $fields, (int)$calls);
$curl = $mode === 'c' ? handle($upstream, $fields) : null;
for ($i = 0; $i < (int)$calls && $mode !== 'p'; $i++) {
	pause($i ? (int)$between : 0);
	if ($curl)
		curl_exec($curl);
	else
		by_stream($upstream, $fields);
}
pause((int)$after);
header('Content-Length: 2');
echo 'ok';
