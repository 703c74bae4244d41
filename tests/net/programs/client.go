// SPDX-License-Identifier: Apache-2.0

// client URL COUNT: POSTs of 5,000 bytes, by length and in chunks in turn.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	for i := 0; i < count; i++ {
		var body io.Reader = strings.NewReader(strings.Repeat("n", 5000))
		if i%2 == 1 {
			body = io.MultiReader(body) // of a length that is not known
		}
		answer, err := http.Post(fmt.Sprintf("%s/%d", os.Args[1], i), "text/plain", body)
		if err != nil || answer.StatusCode != 200 {
			fmt.Fprintln(os.Stderr, answer, err)
			os.Exit(1)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}
