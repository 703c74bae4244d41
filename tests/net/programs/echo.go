// SPDX-License-Identifier: Apache-2.0
// echo.go PORT: answers with the fields of the request and the length of its body, as JSON.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		length, _ := io.Copy(io.Discard, r.Body)
		fields := [][2]string{{"Host", r.Host}}
		for name, values := range r.Header {
			for _, value := range values {
				fields = append(fields, [2]string{name, value})
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"fields": fields, "length": length})
	})
	http.ListenAndServe(":"+os.Args[1], nil)
}
