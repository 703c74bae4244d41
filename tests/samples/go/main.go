// SPDX-License-Identifier: Apache-2.0

// server PORT [handler|pool|buffer|fan|forget|several|gather|group]: Go's net/http. The second slice of a request is done by its
// handler; by a pool of goroutines that take jobs out of a channel, or out of one with a buffer; by the pool in two jobs, for
// which it waits as a group; by the pool while the handler sleeps, and waits for nothing; by a goroutine that takes several
// jobs at a time, as many as there are, or always as many, for which nobody waits; or by two goroutines of an errgroup. Environment: TRUTH, a file: one line for each slice; BACKGROUND: a
// goroutine burns for nobody, or has the pool do so.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"
)

const (
	slice      = 2 * time.Millisecond
	pause      = 2 * time.Millisecond
	background = 20 * time.Millisecond
	workers    = 4
	atOnce     = 4
	room       = 64
	trials     = 50
	trialSteps = 500
	most       = 100_000 // nanoseconds of CPU that a step takes

	clockMonotonic = 1
	clockOfThread  = 3
	unsure         = "?" // it is not known when the work was on which thread
)

var sink, steps int

func read(clock uintptr) int64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func step(factor int) {
	for i := 0; i < 1000; i++ {
		sink = sink*factor + i
	}
}

// How many steps take a slice where nothing else runs.
func stepsOfSlice() int {
	best := time.Hour
	for trial := 0; trial < trials; trial++ {
		start := time.Now()
		for i := 0; i < trialSteps; i++ {
			step(trial)
			read(clockOfThread)
		}
		if took := time.Since(start); took < best {
			best = took
		}
	}
	return int(slice * trialSteps / best)
}

// Returns whether nobody else can have run on the thread: then its time on the CPU goes on step by step.
func spin(factor int) bool {
	alone, last := true, read(clockOfThread)
	for i := 0; i < steps; i++ {
		step(factor)
		now := read(clockOfThread)
		alone = alone && now >= last && now < last+most
		last = now
	}
	return alone
}

//go:noinline
func burn_a() bool {
	alone := spin(31)
	sink++
	return alone
}

//go:noinline
func burn_b() bool {
	alone := spin(37)
	sink--
	return alone
}

//go:noinline
func burn_background() bool {
	alone := spin(41)
	sink += 2
	return alone
}

// A job of its own, for the request with this id.
type job struct {
	id   string
	done func()
}

type server struct {
	truth *os.File
	jobs  chan *job
	way   string
}

func (s *server) tell(thread int, start, end int64, id string) {
	fmt.Fprintf(s.truth, "%d %d %d %d %s\n", os.Getpid(), thread, start, end, id)
}

// For the request with this id, whose first letter is its endpoint, "-": for none.
func (s *server) burnSlice(id string) {
	burn := burn_background
	switch id[0] {
	case 'a':
		burn = burn_a
	case 'b':
		burn = burn_b
	}
	thread, start := syscall.Gettid(), read(clockMonotonic)
	alone := burn()
	end := read(clockMonotonic)
	after := syscall.Gettid()
	if alone && thread == after {
		s.tell(thread, start, end, id)
	} else {
		s.tell(thread, start, end, unsure)
		s.tell(after, start, end, unsure)
	}
}

func (s *server) byPool(id string) {
	done := make(chan struct{})
	s.jobs <- &job{id, func() { close(done) }}
	<-done
}

func (s *server) byPoolTwice(id string) {
	var group sync.WaitGroup
	group.Add(2)
	for i := 0; i < 2; i++ {
		s.jobs <- &job{id, group.Done}
	}
	group.Wait()
}

// Nobody waits for it.
func (s *server) byPoolLater(id string) {
	s.jobs <- &job{id, func() {}}
	time.Sleep(2 * pause)
}

func (s *server) takeJobs() {
	for job := range s.jobs {
		s.burnSlice(job.id)
		job.done()
	}
}

// The next one, nil: there is none now.
func (s *server) more() *job {
	if s.way == "gather" {
		return <-s.jobs
	}
	select {
	case next := <-s.jobs:
		return next
	default:
		return nil
	}
}

// Several at a time.
func (s *server) takeSeveral() {
	for first := range s.jobs {
		taken := []*job{first}
		for next := first; next != nil && len(taken) < atOnce; {
			if next = s.more(); next != nil {
				taken = append(taken, next)
			}
		}
		for _, job := range taken {
			s.burnSlice(job.id)
		}
		for _, job := range taken {
			job.done()
		}
	}
}

func (s *server) byGroup(id string) {
	var group errgroup.Group
	for i := 0; i < 2; i++ {
		group.Go(func() error {
			s.burnSlice(id)
			return nil
		})
	}
	group.Wait()
}

func (s *server) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	id := request.URL.RawQuery
	s.burnSlice(id)
	time.Sleep(pause)
	switch s.way {
	case "pool", "buffer", "several":
		s.byPool(id)
	case "fan":
		s.byPoolTwice(id)
	case "forget", "gather":
		s.byPoolLater(id)
	case "group":
		s.byGroup(id)
	default:
		s.burnSlice(id)
	}
	out.Write([]byte("ok"))
}

func (s *server) startWorkers() {
	if s.way == "several" || s.way == "gather" {
		go s.takeSeveral()
		return
	}
	for i := 0; i < workers; i++ {
		go s.takeJobs()
	}
}

func (s *server) burnOn() {
	for {
		if s.way == "pool" {
			s.byPool("-")
		} else {
			s.burnSlice("-")
		}
		time.Sleep(background)
	}
}

func main() {
	steps = stepsOfSlice()
	s := &server{jobs: make(chan *job), way: os.Args[2]}
	switch s.way {
	case "buffer", "forget", "several", "gather":
		s.jobs = make(chan *job, room)
	}
	s.truth, _ = os.OpenFile(os.Getenv("TRUTH"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	s.startWorkers()
	if os.Getenv("BACKGROUND") != "" {
		go s.burnOn()
	}
	panic(http.ListenAndServe(":"+os.Args[1], s))
}
