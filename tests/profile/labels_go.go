// SPDX-License-Identifier: Apache-2.0

// As labels_burn.c, in Go, by the labels of runtime/pprof: labels_go SECONDS [many|lies]. With "many"
// each goroutine has so many labels that the map has more than one bucket. With "lies" goroutine 0
// has labels without end, those of goroutine 1 are in the kernel, and the value of goroutine 2's is
// longer than its memory and turns a terminal over.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const rounds = 1000000

var sink [4]uint32

//go:noinline
func burn(n int) {
	x := uint32(1)
	for i := 0; i < rounds; i++ {
		x = x*1664525 + 1013904223
	}
	sink[n] = x
}

//go:noinline
func burn_0() { burn(0); sink[0]++ }

//go:noinline
func burn_1() { burn(1); sink[1]++ }

//go:noinline
func burn_2() { burn(2); sink[2]++ }

//go:noinline
func burn_3() { burn(3); sink[3]++ }

//go:noinline
func burn_plain(n int) { burn(n); sink[n]++ }

var burns = []func(){burn_0, burn_1, burn_2, burn_3}

// Of a map of strings, before Go 1.24 (src/runtime/map.go).
type goMap struct {
	count   int
	flags   uint8
	log     uint8
	more    uint16
	hash    uint32
	buckets unsafe.Pointer
}

type goBucket struct {
	used   [8]uint8
	keys   [8]goString
	values [8]goString
	next   unsafe.Pointer
}

type goString struct {
	bytes unsafe.Pointer
	size  int
}

// A context with a value (src/context/context.go).
type valueContext struct{ parent, key, value [2]unsafe.Pointer }

// The map of labels that a context has.
func labelsOf(labelled context.Context) *goMap {
	inside := (*valueContext)((*[2]unsafe.Pointer)(unsafe.Pointer(&labelled))[1])
	return *(**goMap)(inside.value[1])
}

// A page of control characters, and nothing behind it.
func terminalPage() unsafe.Pointer {
	const size = 4096
	page, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for i := 0; i < size; i++ {
		page[i] = "\x1b[2J"[i%4]
	}
	if err := syscall.Mprotect(page[size:], syscall.PROT_NONE); err != nil {
		panic(err)
	}
	return unsafe.Pointer(&page[0])
}

func lie(n int, labels *goMap) {
	bucket := (*goBucket)(labels.buckets)
	switch n {
	case 0:
		bucket.next = unsafe.Pointer(bucket)
		labels.log = 4
		labels.count = 1 << 60
	case 1:
		*(*uintptr)(unsafe.Pointer(&labels.buckets)) = 0xffff888000000000
	case 2:
		bucket.values[0] = goString{terminalPage(), 1 << 40}
	}
}

func run(n int, how string, end time.Time) {
	words := []string{"thread", "t" + strconv.Itoa(n)}
	for i := 0; how == "many" && i < 9; i++ {
		words = append(words, fmt.Sprintf("more%d", i), strconv.Itoa(n))
	}
	labelled := pprof.WithLabels(context.Background(), pprof.Labels(words...))
	if how == "lies" {
		lie(n, labelsOf(labelled))
	}
	for time.Now().Before(end) {
		pprof.SetGoroutineLabels(labelled)
		burns[n]()
		pprof.SetGoroutineLabels(context.Background())
		burn_plain(n)
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		panic(err)
	}
	how := strings.Join(os.Args[2:], "")
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var group sync.WaitGroup
	for n := range burns {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			run(n, how, end)
		}(n)
	}
	group.Wait()
}
