// SPDX-License-Identifier: Apache-2.0
// liar PORT: a program in Go that says of each request it reads that another goroutine does.
//
// Lines of the standard input are orders: "many N" has it serve N requests on one connection, "hold
// N" N on connections of their own, which are not answered. Both are its own. It says "done" then.
package main

import (
	"fmt"
	"log"
	_ "net/http" // as most programs have it
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"unsafe"
)

// Where g has its m, and from where on in that its curg is looked for (before it are copies).
const gM, mCurg = 48, 0xa0

const request, answer = "GET / HTTP/1.1\r\nHost: liar\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// Goroutines that there are not, so far from each other. (The runtime writes to what it takes for one.)
const apart, most = 64, 1 << 17

var goroutines [(most + 16) * apart]byte
var lies uintptr
var buffer [4096]byte
var local = syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}

// The current goroutine.
func g() uintptr

// read(2), while *curg is `lie`.
func lyingRead(fd, buffer, length, curg, lie uintptr) uintptr

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The address of curg in the current thread's m.
func curg() uintptr {
	m := *(*uintptr)(unsafe.Pointer(g() + gM))
	at := m + mCurg
	for *(*uintptr)(unsafe.Pointer(at)) != g() {
		at += 8
	}
	return at
}

func connect(listener int) (client, server int) {
	client, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(err)
	must(syscall.Connect(client, &local))
	server, _, err = syscall.Accept(listener)
	must(err)
	return client, server
}

func write(fd int, text string) {
	_, err := syscall.Write(fd, []byte(text))
	must(err)
}

func readLying(server int) {
	lies++
	lyingRead(uintptr(server), uintptr(unsafe.Pointer(&buffer)), uintptr(len(buffer)), curg(),
		uintptr(unsafe.Pointer(&goroutines[lies%most*apart])))
}

func many(listener, count int) {
	client, server := connect(listener)
	for i := 0; i < count; i++ {
		write(client, request)
		readLying(server)
		write(server, answer)
		_, err := syscall.Read(client, buffer[:])
		must(err)
	}
}

func hold(listener, count int) {
	for i := 0; i < count; i++ {
		client, server := connect(listener)
		write(client, request)
		readLying(server)
	}
}

func main() {
	var order string
	var count int

	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	local.Port, _ = strconv.Atoi(os.Args[1])
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(err)
	must(syscall.SetsockoptInt(listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	must(syscall.Bind(listener, &local))
	must(syscall.Listen(listener, 128))
	for {
		if _, err := fmt.Scan(&order, &count); err != nil {
			return
		}
		if order == "many" {
			many(listener, count)
		} else {
			hold(listener, count)
		}
		fmt.Println("done")
	}
}
