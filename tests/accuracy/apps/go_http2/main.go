// SPDX-License-Identifier: Apache-2.0

// server: HTTP/2 without TLS in Go, by golang.org/x/net/http2.
//
// FRONT (address:port) is served by HTTP/1, and each request passed on to BACK on one connection of
// HTTP/2. BACK is served by HTTP/2, and calls UPSTREAM (host:port) by HTTP/1. The target is the plan:
// /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms; MODE s: the handler's goroutine calls; t: a new one
// for each call. BACKGROUND_MS: mean pause between calls that belong to no request.
package main

import (
	"crypto/tls"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

func dial(network, address string, _ *tls.Config) (net.Conn, error) {
	return net.Dial(network, address)
}

var back = &http.Client{Transport: &http2.Transport{AllowHTTP: true, DialTLS: dial}}

func pause(milliseconds int) {
	if milliseconds > 0 {
		time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	}
}

// ask makes a call; what a program of the test passes on is only x-truth.
func ask(client *http.Client, url, truth string) {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		log.Fatal(err)
	}
	if truth != "" {
		request.Header.Set("x-truth", truth)
	}
	answer, err := client.Do(request)
	if err != nil {
		log.Print(err)
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

func pass(response http.ResponseWriter, request *http.Request) {
	ask(back, "http://"+os.Getenv("BACK")+request.URL.Path, request.Header.Get("x-truth"))
	io.WriteString(response, "ok")
}

func call(mode, truth string) {
	upstream := "http://" + os.Getenv("UPSTREAM") + "/"
	if mode == "s" {
		ask(http.DefaultClient, upstream, truth)
		return
	}
	done := make(chan struct{})
	go func() {
		ask(http.DefaultClient, upstream, truth)
		close(done)
	}()
	<-done
}

func serve(response http.ResponseWriter, request *http.Request) {
	part := strings.Split(request.URL.Path[1:], "/")
	var number [4]int
	for i := range number {
		number[i], _ = strconv.Atoi(part[i])
	}
	pause(number[0])
	for i := 0; i < number[3]; i++ {
		if i > 0 {
			pause(number[1])
		}
		call(part[4], request.Header.Get("x-truth"))
	}
	pause(number[2])
	io.WriteString(response, "ok")
}

// background makes calls that belong to no request, each in a goroutine of its own.
func background(mean int) {
	for {
		pause(rand.Intn(2*mean + 1))
		go ask(http.DefaultClient, "http://"+os.Getenv("UPSTREAM")+"/", "none")
	}
}

func main() {
	if mean, _ := strconv.Atoi(os.Getenv("BACKGROUND_MS")); mean > 0 {
		go background(mean)
	}
	if front := os.Getenv("FRONT"); front != "" {
		log.Fatal(http.ListenAndServe(front, http.HandlerFunc(pass)))
	}
	handler := h2c.NewHandler(http.HandlerFunc(serve), &http2.Server{})
	log.Fatal(http.ListenAndServe(os.Getenv("BACK"), handler))
}
