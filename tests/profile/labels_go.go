// SPDX-License-Identifier: Apache-2.0

// As labels_burn.c, in Go, by the labels of runtime/pprof: labels_go SECONDS [many]. With "many"
// each goroutine has so many labels that the map has more than one bucket.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
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

func run(n int, many bool, end time.Time) {
	words := []string{"thread", "t" + strconv.Itoa(n)}
	for i := 0; many && i < 9; i++ {
		words = append(words, fmt.Sprintf("more%d", i), strconv.Itoa(n))
	}
	labels := pprof.Labels(words...)
	for time.Now().Before(end) {
		pprof.Do(context.Background(), labels, func(context.Context) { burns[n]() })
		burn_plain(n)
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		panic(err)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var group sync.WaitGroup
	for n := range burns {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			run(n, len(os.Args) > 2, end)
		}(n)
	}
	group.Wait()
}
