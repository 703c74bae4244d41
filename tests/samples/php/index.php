<?php
// SPDX-License-Identifier: Apache-2.0
// What is behind nginx: /a makes sums by MD5, /b by SHA-1, until two slices of CPU are burned, with a pause between them. TRUTH
// of the environment: one line for each slice.
const SLICE_NS = 2000000, PAUSE_US = 2000;

function burn(string $algorithm, string $id): void
{
    $text = str_repeat('x', 60000);
    $start = hrtime(true);
    while (hrtime(true) < $start + SLICE_NS) {
        hash($algorithm, $text);
    }
    $process = getmypid();
    $line = "$process $process $start " . hrtime(true) . " $id\n";
    file_put_contents(getenv('TRUTH') ?: '/dev/null', $line, FILE_APPEND);
}

$id = $_SERVER['QUERY_STRING'];
$algorithm = $id[0] === 'a' ? 'md5' : 'sha1';
burn($algorithm, $id);
usleep(PAUSE_US);
burn($algorithm, $id);
echo 'ok';
