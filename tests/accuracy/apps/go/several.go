// SPDX-License-Identifier: Apache-2.0

// Ways in which what a goroutine has received last is not what it works on.
package main

import "time"

const batchSize, thingCount = 3, 6

var batched, using = make(chan job), make(chan job)
var things = make(chan *int, thingCount) // a call by use() needs one

// collect takes a few jobs, and calls for them then: by itself or from a goroutine for each.
func collect(goroutines bool) {
	for {
		batch := []job{<-batched}
		late := time.After(2 * time.Millisecond)
	more:
		for len(batch) < batchSize {
			select {
			case one := <-batched:
				batch = append(batch, one)
			case <-late:
				break more
			}
		}
		for _, one := range batch {
			if goroutines {
				go answer(one)
			} else {
				answer(one)
			}
		}
	}
}

func answer(one job) {
	call(one.truth)
	one.done <- struct{}{}
}

// use calls with a thing that whoever had it before gives back.
func use(truth string) {
	thing := <-things
	call(truth)
	things <- thing
}

func useForOthers() {
	for one := range using {
		use(one.truth)
		one.done <- struct{}{}
	}
}

func later(one job) {
	time.AfterFunc(time.Millisecond, func() { answer(one) })
	<-one.done
}

func startSeveral() {
	go collect(false)
	go collect(true)
	for i := 0; i < thingCount; i++ {
		things <- new(int)
	}
	for i := 0; i < poolSize; i++ {
		go useForOthers()
	}
}
