// SPDX-License-Identifier: Apache-2.0

// A program with the server and the client of net/http in it. It is only looked at.
package main

import (
	"log"
	"net/http"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		answer, err := http.Get("http://" + request.Host)
		if err == nil {
			answer.Write(response)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:0", nil))
}
