// SPDX-License-Identifier: Apache-2.0

// server PORT [handler|pool|group]: Go's net/http. The second slice of a request is done by its handler, by a pool of
// goroutines that take jobs out of a channel, or by two goroutines of an errgroup. Environment:
// TRUTH, a file: one line for each slice; BACKGROUND: a goroutine burns for nobody.
package main

import (
	"fmt"
	"net/http"
	"os"
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

	clockMonotonic = 1
)

var sink int

func monotonic() int64 {
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func spin(factor int) {
	for end := time.Now().Add(slice); time.Now().Before(end); {
		for i := 0; i < 1000; i++ {
			sink = sink*factor + i
		}
	}
}

//go:noinline
func burn_a() { spin(31); sink++ }

//go:noinline
func burn_b() { spin(37); sink-- }

//go:noinline
func burn_background() { spin(41); sink += 2 }

type server struct {
	truth *os.File
	jobs  chan func()
	way   string
}

// For the request with this id, whose first letter is its endpoint, "-": for none.
func (s *server) burnSlice(id string) {
	thread, start := syscall.Gettid(), monotonic()
	switch id[0] {
	case 'a':
		burn_a()
	case 'b':
		burn_b()
	default:
		burn_background()
	}
	end := monotonic()
	if thread == syscall.Gettid() { // else it was moved to another thread meanwhile, at a time that is not known
		fmt.Fprintf(s.truth, "%d %d %d %d %s\n", os.Getpid(), thread, start, end, id)
	}
}

func (s *server) byPool(id string) {
	done := make(chan struct{})
	s.jobs <- func() {
		s.burnSlice(id)
		close(done)
	}
	<-done
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
	case "pool":
		s.byPool(id)
	case "group":
		s.byGroup(id)
	default:
		s.burnSlice(id)
	}
	out.Write([]byte("ok"))
}

func main() {
	s := &server{jobs: make(chan func()), way: os.Args[2]}
	s.truth, _ = os.OpenFile(os.Getenv("TRUTH"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	for i := 0; i < workers; i++ {
		go func() {
			for job := range s.jobs {
				job()
			}
		}()
	}
	if os.Getenv("BACKGROUND") != "" {
		go func() {
			for {
				s.burnSlice("-")
				time.Sleep(background)
			}
		}()
	}
	panic(http.ListenAndServe(":"+os.Args[1], s))
}
