// SPDX-License-Identifier: Apache-2.0

// Listens on os.Args[1]; each request makes a call to os.Args[2], a URL, and is answered with what
// comes.
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer, err := http.Get(os.Args[2])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		io.Copy(w, answer.Body)
	})
	if err := http.ListenAndServe(":"+os.Args[1], nil); err != nil {
		panic(err)
	}
}
