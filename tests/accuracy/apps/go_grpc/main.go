// SPDX-License-Identifier: Apache-2.0

// server: gRPC without TLS in Go, by google.golang.org/grpc.
//
// FRONT (address:port) is served by HTTP/1, and each request passed on to BACK on one connection of
// gRPC. BACK is served by gRPC, and calls UPSTREAM (host:port) by HTTP/1. The target is the plan:
// /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms; the handler's goroutine calls, whatever MODE is.
package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
)

// raw is a codec of messages that are strings.
type raw struct{}

func (raw) Name() string                                { return "raw" }
func (raw) Marshal(message interface{}) ([]byte, error) { return []byte(*message.(*string)), nil }
func (raw) Unmarshal(data []byte, to interface{}) error { *to.(*string) = string(data); return nil }

func pause(milliseconds int) {
	if milliseconds > 0 {
		time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	}
}

// call tells the upstream x-truth, which is all that is passed on.
func call(truth string) {
	request, err := http.NewRequest("GET", "http://"+os.Getenv("UPSTREAM")+"/", nil)
	if err != nil {
		log.Fatal(err)
	}
	if truth != "" {
		request.Header.Set("x-truth", truth)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Print(err)
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

// run does what a plan says, behind which stands the truth.
func run(_ interface{}, _ context.Context, decode func(interface{}) error,
	_ grpc.UnaryServerInterceptor) (interface{}, error) {
	var plan string
	if err := decode(&plan); err != nil {
		return nil, err
	}
	path, truth, _ := strings.Cut(plan, " ")
	part := strings.Split(path[1:], "/")
	var number [4]int
	for i := range number {
		number[i], _ = strconv.Atoi(part[i])
	}
	pause(number[0])
	for i := 0; i < number[3]; i++ {
		if i > 0 {
			pause(number[1])
		}
		call(truth)
	}
	pause(number[2])
	answer := "ok"
	return &answer, nil
}

var service = grpc.ServiceDesc{
	ServiceName: "accuracy.Plans",
	HandlerType: (*interface{})(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Run", Handler: run}},
}

func pass(back *grpc.ClientConn) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		plan, answer := request.URL.Path+" "+request.Header.Get("x-truth"), ""
		err := back.Invoke(request.Context(), "/accuracy.Plans/Run", &plan, &answer,
			grpc.CallContentSubtype("raw"))
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
		io.WriteString(response, answer)
	}
}

func main() {
	encoding.RegisterCodec(raw{})
	if front := os.Getenv("FRONT"); front != "" {
		back, err := grpc.Dial(os.Getenv("BACK"), grpc.WithInsecure())
		if err != nil {
			log.Fatal(err)
		}
		log.Fatal(http.ListenAndServe(front, pass(back)))
	}
	listener, err := net.Listen("tcp", os.Getenv("BACK"))
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	server.RegisterService(&service, nil)
	log.Fatal(server.Serve(listener))
}
