// SPDX-License-Identifier: Apache-2.0

// server ADDRESS:PORT: Go's net/http, server and default client.
//
// The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where the calls
// come from: s the handler's goroutine; t a new goroutine each, one after the other; p new
// goroutines, all at once; q the goroutines of a pool; b those of one with a buffer of jobs; e the
// same, but they are made by the first requests; l new goroutines, some at most at once: who is done
// starts one for the next; g the same, who is done goes on with the next itself; c the handler's, one
// of which makes all calls that wait; k one that collects several jobs first; u and v the handler's and a
// pool's, with things that go from hand to hand; a those of timers. Environment: UPSTREAM (host:port), BACKGROUND_MS
// (mean pause between calls that belong to no request).
package main

import (
	"io"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const poolSize, atOnce = 8, 4

type job struct {
	truth string
	done  chan struct{}
}

var upstream = "http://" + os.Getenv("UPSTREAM") + "/"
var jobs, buffered, elastic = make(chan job), make(chan job, 64), make(chan job, 64)
var elasticSize int32

type limit struct {
	sync.Mutex
	waiting []job
	running int
}

var limited, growing, combined limit

func pause(milliseconds int) {
	if milliseconds > 0 {
		time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	}
}

func call(truth string) {
	request, err := http.NewRequest("GET", upstream, nil)
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

func inGoroutine(truth string, done chan struct{}) {
	go func() {
		call(truth)
		done <- struct{}{}
	}()
}

func parallel(truth string, calls int) {
	var all sync.WaitGroup
	for i := 0; i < calls; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			call(truth)
		}()
	}
	all.Wait()
}

func sequential(truth, mode string, calls, between int) {
	done := make(chan struct{})
	for i := 0; i < calls; i++ {
		if i > 0 {
			pause(between)
		}
		switch mode {
		case "s":
			call(truth)
		case "t":
			inGoroutine(truth, done)
			<-done
		case "q":
			jobs <- job{truth, done}
			<-done
		case "b":
			buffered <- job{truth, done}
			<-done
		case "e":
			growElastic()
			elastic <- job{truth, done}
			<-done
		case "g":
			grow(job{truth, done})
		case "c":
			combine(truth)
		case "l":
			inTurn(job{truth, done})
		case "k":
			batched <- job{truth, done}
			<-done
		case "u":
			use(truth)
		case "v":
			using <- job{truth, done}
			<-done
		case "a":
			later(job{truth, done})
		}
	}
}

func work(jobs chan job) {
	for job := range jobs {
		call(job.truth)
		job.done <- struct{}{}
	}
}

func growElastic() {
	if atomic.AddInt32(&elasticSize, 1) <= poolSize {
		go work(elastic)
	}
}

func callInTurn(one job) {
	call(one.truth)
	limited.Lock()
	if len(limited.waiting) > 0 {
		go callInTurn(limited.waiting[0])
		limited.waiting = limited.waiting[1:]
	} else {
		limited.running--
	}
	limited.Unlock()
	one.done <- struct{}{}
}

func inTurn(one job) {
	limited.Lock()
	if limited.running == atOnce {
		limited.waiting = append(limited.waiting, one)
	} else {
		limited.running++
		go callInTurn(one)
	}
	limited.Unlock()
	<-one.done
}

func workWhileAny(one job) {
	for more := true; more; {
		call(one.truth)
		one.done <- struct{}{}
		growing.Lock()
		more = len(growing.waiting) > 0
		if more {
			one = growing.waiting[0]
			growing.waiting = growing.waiting[1:]
		} else {
			growing.running--
		}
		growing.Unlock()
	}
}

func grow(one job) {
	growing.Lock()
	if growing.running < atOnce {
		growing.running++
		go workWhileAny(one)
	} else {
		growing.waiting = append(growing.waiting, one)
	}
	growing.Unlock()
	<-one.done
}

func nextCombined() (one job, more bool) {
	combined.Lock()
	defer combined.Unlock()
	if len(combined.waiting) == 0 {
		combined.running = 0
		return one, false
	}
	one = combined.waiting[0]
	combined.waiting = combined.waiting[1:]
	return one, true
}

func callForAll() {
	for one, more := nextCombined(); more; one, more = nextCombined() {
		call(one.truth)
		one.done <- struct{}{}
	}
}

// combine makes the call, and all others that wait by then, unless another goroutine is at it.
func combine(truth string) {
	one := job{truth, make(chan struct{}, 1)}
	combined.Lock()
	combined.waiting = append(combined.waiting, one)
	first := combined.running == 0
	combined.running = 1
	combined.Unlock()
	if first {
		callForAll()
	}
	<-one.done
}

func serve(response http.ResponseWriter, request *http.Request) {
	part := strings.Split(request.URL.Path[1:], "/")
	var number [4]int
	for i := range number {
		number[i], _ = strconv.Atoi(part[i])
	}
	truth := request.Header.Get("x-truth")
	pause(number[0])
	if part[4] == "p" {
		parallel(truth, number[3])
	} else {
		sequential(truth, part[4], number[3], number[1])
	}
	pause(number[2])
	io.WriteString(response, "ok")
}

func background(mean int) {
	for {
		pause(rand.Intn(2*mean + 1))
		call("none")
	}
}

func main() {
	for i := 0; i < poolSize; i++ {
		go work(jobs)
		go work(buffered)
	}
	startSeveral()
	if mean, _ := strconv.Atoi(os.Getenv("BACKGROUND_MS")); mean > 0 {
		go background(mean)
	}
	http.HandleFunc("/", serve)
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
