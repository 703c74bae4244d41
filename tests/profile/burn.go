// SPDX-License-Identifier: Apache-2.0

// As burn_server.c (without its writer), in Go: profile_burn_go PORT TRUTH [restless].
//
// A goroutine may go on in another thread at any moment, so the truth is written down in slices:
// the longest stretches in which the thread was seen to stay the same.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	roundsPerLook = 20000
	background    = 2 * time.Millisecond
	pause         = 10 * time.Millisecond
	nap           = 100 * time.Millisecond
	gapAtMost     = 200 * time.Microsecond
	clockMono     = 1
)

var truth *os.File

// CLOCK_MONOTONIC in ns, as BPF programs read it.
func now() int64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMono, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func thread() int {
	tid, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	return int(tid)
}

// A stretch of work in one thread.
type slice struct {
	tid        int
	start, end int64
}

func work() {
	x := uint32(1)
	for i := 0; i < roundsPerLook; i++ {
		x = x*1664525 + 1013904223
	}
	sink = x
}

var sink uint32

// Works for so long, less the time that it was seen not to run; returns where it ran.
func slices(length time.Duration) []slice {
	var ran []slice
	for done := int64(0); done < int64(length); {
		s := slice{thread(), now(), 0}
		work()
		s.end = now()
		if thread() != s.tid || s.end-s.start > int64(gapAtMost) {
			continue // it was interrupted, and who knows what the thread did meanwhile
		}
		done += s.end - s.start
		ran = appendSlice(ran, s)
	}
	return ran
}

func appendSlice(ran []slice, s slice) []slice {
	if n := len(ran); n > 0 && ran[n-1].tid == s.tid && s.start-ran[n-1].end < int64(gapAtMost)/10 {
		ran[n-1].end = s.end
		return ran
	}
	return append(ran, s)
}

func burn(request string, length time.Duration) {
	var lines strings.Builder
	for _, s := range slices(length) {
		fmt.Fprintf(&lines, "%d %d %d %d %s\n", os.Getpid(), s.tid, s.start, s.end, request)
	}
	truth.WriteString(lines.String())
}

func takeNap(request string) {
	start := now()
	time.Sleep(nap)
	fmt.Fprintf(truth, "%d %d %d %d %s.take_nap\n", os.Getpid(), thread(), start, now(), request)
}

func serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	us, err := strconv.Atoi(parts[1])
	if err != nil || len(parts) < 3 {
		http.Error(w, "expected /US/ID[/wait]", http.StatusBadRequest)
		return
	}
	burn(parts[2], time.Duration(us)*time.Microsecond)
	if len(parts) > 3 {
		takeNap(parts[2])
	}
	w.Write([]byte("ok"))
}

// Two goroutines that do nothing but take turns.
func takeTurns() {
	there, back := make(chan int), make(chan int)
	go func() {
		for {
			back <- <-there
		}
	}()
	for {
		there <- 1
		<-back
	}
}

func main() {
	var err error
	truth, err = os.OpenFile(os.Args[2], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			burn("-", background)
			time.Sleep(pause)
		}
	}()
	if len(os.Args) > 3 {
		go takeTurns()
	}
	http.HandleFunc("/", serve)
	panic(http.ListenAndServe(":"+os.Args[1], nil))
}
