// SPDX-License-Identifier: Apache-2.0
// hold.go PORT: holds requests, GET /sleep/SECONDS or /burn/SECONDS.
package main

import (
	"net/http"
	"os"
	"strings"
	"time"
)

func seconds(r *http.Request) time.Duration {
	held, _ := time.ParseDuration(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] + "s")
	return held
}

func main() {
	http.HandleFunc("/sleep/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(seconds(r))
	})
	http.HandleFunc("/burn/", func(w http.ResponseWriter, r *http.Request) {
		for end := time.Now().Add(seconds(r)); time.Now().Before(end); {
		}
	})
	http.ListenAndServe(":"+os.Args[1], nil)
}
