// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#define OK       "HTTP/1.1 200 OK\n<line>"
#define HEAD_END "\n<blank>\n<head>"

const struct framing_case response_cases[] = {
    {"length", OK "Content-Length: 3" HEAD_END "abc<end>" OK "Content-Length: 0" HEAD_END "<end>",
     0},
    {"chunks", OK "Transfer-Encoding: chunked" HEAD_END "3\nabc\n0\n\n<end>", 0},
    {"until the connection ends", OK "A: b" HEAD_END "abc\nHTTP/1.1 200 OK\n\n", 0},
    {"a coding until the connection ends", OK "Transfer-Encoding: gzip" HEAD_END "abc", 0},
    {"no reason", "HTTP/1.1 200\n<line>Content-Length: 0" HEAD_END "<end>", 0},
    {"empty reason", "HTTP/1.1 200 \n<line>Content-Length: 0" HEAD_END "<end>", 0},
    {"reason of any bytes",
     "HTTP/1.0 404 Nicht\tda \xc3\xa4\n<line>Content-Length: 0" HEAD_END "<end>", 0},
    {"continue, then the answer",
     "HTTP/1.1 100 Continue\n<blank>\n<head><end>" OK "Content-Length: 1" HEAD_END "a<end>", 0},
    {"early hints with a length",
     "HTTP/1.1 103 Early\n<line>Content-Length: 5" HEAD_END "<end>" OK "Content-Length: 1" HEAD_END
     "a<end>",
     0},
    {"no content", "HTTP/1.1 204 No\n<line>Content-Length: 5" HEAD_END "<end>", 0},
    {"not modified", "HTTP/1.1 304 Not\n<line>Transfer-Encoding: chunked" HEAD_END "<end>", 0},
    {"answer to HEAD",
     OK "Content-Length: 5" HEAD_END "<end>" OK "Content-Length: 1" HEAD_END "a<end>", 1},
    {"answer to HEAD after continue",
     "HTTP/1.1 100 Continue\n<blank>\n<head><end>" OK "Content-Length: 5" HEAD_END "<end>", 1},
    {"answer to HEAD after another",
     OK "Content-Length: 1" HEAD_END "a<end>" OK "A: b" HEAD_END "<end>", 2},
    {"switching protocols",
     "HTTP/1.1 101 Switching\n<line>Upgrade: websocket" HEAD_END "<stop:upgraded>\x81\x01z", 0},
    {"bare LF all through", "HTTP/1.1 200 OK<lf><line>Content-Length: 1<lf><blank><lf><head>a<end>",
     0},
    {"two lengths", OK "Content-Length: 1\n<line>Content-Length:<stop:length> 2\n\n", 0},
    {"length and coding", OK "Content-Length: 1\n<line>Transfer-Encoding:<stop:length> chunked\n\n",
     0},
    {"chunked not last", OK "Transfer-Encoding: chunked, <stop:length>gzip\n\n", 0},
    {"tab after chunked", OK "Transfer-Encoding: chunked<stop:length>\t\n\n", 0},
    {"two codings without a comma", OK "Transfer-Encoding: gzip <stop:length>x\n\n", 0},
    {"no status", "HTTP/1.1 <stop:not-http>\n\n", 0},
    {"not a status line", "GET / HT<stop:not-http>TP/1.1\n\n", 0},
    {"another version", "HTTP/1.2<stop:not-http> 200 OK\n\n", 0},
    {"HTTP/2", "HTTP/2.0<stop:http2> 200 OK\n\n", 0},
    {"two digits", "HTTP/1.1 20<stop:not-http> OK\n\n", 0},
    {"four digits", "HTTP/1.1 200<stop:not-http>0 OK\n\n", 0},
    {"status below 100", "HTTP/1.1 <stop:not-http>099 OK\n\n", 0},
    {"no space", "HTTP/1.1<stop:not-http>\t200 OK\n\n", 0},
    {"control character in the reason", "HTTP/1.1 200 O<stop:not-http>\x01K\n\n", 0},
};

const size_t response_case_count = sizeof(response_cases) / sizeof(response_cases[0]);
