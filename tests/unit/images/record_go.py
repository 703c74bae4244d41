#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records the memory that readers of Go look at: record_go.py [GO] >go-1.MINOR.txt

Builds a program whose goroutines wait in various ways, while one of them, with labels, has a thread
of its own. Which goroutine is where the program tells itself, by Go's own account of them; of its
memory only what readers look at is kept. For x86-64.
"""
import argparse
import json
import re
import struct
import subprocess
import tempfile
from pathlib import Path

from memory import Memory

PROGRAM = r"""
package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var never, neither = make(chan int), make(chan int)
var group sync.WaitGroup
var lock sync.Mutex
var condition = sync.NewCond(new(sync.Mutex))

func waitsForMessage()   { <-never }
func waitsForOneOfTwo()  { select { case <-never: case <-neither: } }
func waitsForGroup()     { group.Wait() }
func waitsForCondition() { condition.L.Lock(); condition.Wait() }
func waitsForLock()      { lock.Lock() }
func sleeps()            { time.Sleep(time.Hour) }

func reads(address string) {
	connection, err := net.Dial("tcp", address)
	if err == nil {
		connection.Read(make([]byte, 1))
	}
}

func calls(address string) { http.Get("http://" + address + "/") }

func works() {
	const ARCH_GET_FS = 0x1003
	var thread uint64
	stacks := make([]byte, 1<<20)

	runtime.LockOSThread()
	time.Sleep(time.Second)
	syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, ARCH_GET_FS, uintptr(unsafe.Pointer(&thread)), 0)
	told := map[string]interface{}{"version": runtime.Version(), "thread": thread,
		"stacks": string(stacks[:runtime.Stack(stacks, true)])}
	json.NewEncoder(os.Stdout).Encode(told)
	syscall.Read(0, make([]byte, 1))
}

func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	address := listener.Addr().String()
	group.Add(1)
	lock.Lock()
	for _, f := range []func(){waitsForMessage, waitsForOneOfTwo, waitsForGroup, waitsForCondition,
		waitsForLock, sleeps} {
		go f()
	}
	go reads(address)
	go calls(address)
	labels := pprof.Labels(LABELS)
	pprof.Do(context.Background(), labels, func(context.Context) { works() })
}
"""
# More than one bucket has room for; the longest value is cut.
LABELS = {"endpoint": "GET /search", "tenant": "blue", "long": "0123456789" * 6,
          **{f"key{number}": f"value{number}" for number in range(9)}}
# Who waits for another one, by Go's own words for it.
WAITS = {"waitsForMessage": "chan receive", "waitsForOneOfTwo": "select", "waitsForGroup": "semacquire",
         "waitsForCondition": "sync.Cond.Wait"}
WAITS_NOT = {"waitsForLock": "semacquire", "sleeps": "sleep", "reads": "IO wait", "calls": "select",
             "works": "running"}
# Functions by which readers tell what is waited for; runtimes/go/golang.c names the same.
PLACES = ("runtime.text", "runtime.chanrecv", "runtime.selectgo", "sync.(*WaitGroup).Wait",
          "sync.runtime_notifyListWait", "net/http.(*Transport).getConn", "net/http.(*persistConn).roundTrip",
          "net/http.(*bodyEOFSignal).Read", "net/http.(*bodyEOFSignal).Close",
          "net/http.(*bodyEOFSignal).condfn")
ID, M, FRAME, LABELS_AT = 152, 48, 104, 360  # in struct g of Go 1.19
G_SIZE, M_SIZE, FRAMES = 368, 200, 6
MAP_SIZE, BUCKET_SIZE, PLACES_OF_BUCKET = 48, 8 + 8 * 16 + 8 * 16 + 8, 8


def build(go, directory):
    source = directory / "main.go"
    pairs = ", ".join(json.dumps(text) for pair in LABELS.items() for text in pair)
    source.write_text(PROGRAM.replace("pprof.Labels(LABELS)", f"pprof.Labels({pairs})"), encoding="utf-8")
    subprocess.run([go, "build", "-o", directory / "program", source], check=True,
                   env={"HOME": str(directory), "PATH": "/usr/bin:/bin", "CGO_ENABLED": "0", "GO111MODULE": "off",
                        "GOCACHE": str(directory / "cache")})
    return directory / "program"


def symbols(go, program):
    """{name: (address, size)}"""
    listed = subprocess.run([go, "tool", "nm", "-size", program], capture_output=True, text=True, check=True).stdout
    return {name: (int(address, 16), int(size))
            for address, size, name in re.findall(r"^ *([0-9a-f]+) +(\d+) \S (\S+)$", listed, re.M)}


def goroutines(memory, at):
    """{id: address}, of runtime.allgs."""
    first, count = struct.unpack("<QQ", memory.read(at, 16))
    every = struct.unpack(f"<{count}Q", memory.read(first, 8 * count))
    return {memory.word(g + ID): g for g in every}


def functions(stacks):
    """Which goroutine is at which function of the program: (function, state, id)."""
    for stack in stacks.split("\n\n"):
        identity, state = re.match(r"goroutine (\d+) \[([^],]+)", stack).groups()
        own = re.findall(r"^main\.(\w+)\(", stack, re.M)
        for name in own[:1]:
            yield name, state, int(identity)


def keep_text(memory, address):
    """A string in Go: where it is, and how long."""
    where, size = struct.unpack("<QQ", memory.read(address, 16))
    if size:
        memory.keep(where, size)


def keep_labels(memory, g):
    """A map, of which not more than one place in a bucket may be free."""
    labels = memory.word(g + LABELS_AT)
    memory.keep(labels, 8)
    head = memory.word(labels)
    memory.keep(head, MAP_SIZE)
    bucket_count, buckets = 1 << memory.read(head + 9, 1)[0], memory.word(head + 16)
    for number in range(bucket_count):
        bucket = buckets + number * BUCKET_SIZE
        while bucket:
            memory.keep(bucket, BUCKET_SIZE)
            for place in range(2 * PLACES_OF_BUCKET):
                keep_text(memory, bucket + 8 + 16 * place)
            bucket = memory.word(bucket + BUCKET_SIZE - 8)


def keep_frames(memory, g):
    """One that runs has none there, but whatever was left."""
    frame = memory.word(g + FRAME)
    for _ in range(FRAMES):
        if not memory.has(frame):
            return
        memory.keep(frame, 16)
        frame = memory.word(frame)


def keep_all(memory, told, every):
    g = memory.word(told["thread"] - 8)
    m = memory.word(g + M)
    memory.keep(told["thread"] - 8, 8)
    memory.keep(m, M_SIZE)
    for address in {g, memory.word(m), *every.values()}:
        memory.keep(address, G_SIZE)
    for address in every.values():
        keep_frames(memory, address)
    keep_labels(memory, every["works"])


def check(found):
    """Each goroutine is in the state in which Go has it."""
    states = {name: state for name, state, _ in found}
    if states != {**WAITS, **WAITS_NOT}:
        raise SystemExit(f"the goroutines are not where they should be: {states}")


def record(go, directory):
    program = build(go, directory)
    places = symbols(go, program)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        told = json.loads(child.stdout.readline())
        found = list(functions(told["stacks"]))
        check(found)
        memory = Memory(child.pid)
        by_id = goroutines(memory, places["runtime.allgs"][0])
        every = {name: by_id[identity] for name, _, identity in found}
        keep_all(memory, told, every)
        lines = list(memory.lines())
        child.kill()
    return told, places, every, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("go", nargs="?", default="/usr/bin/go")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        told, places, every, lines = record(args.go, Path(directory))
    print("# SPDX-License-Identifier: Apache-2.0")
    print(f"# Memory of a program of {told['version']}, as record_go.py has found it. Functions: g, 0, whether it waits.")
    print(f"minor {told['version'].split('.')[1]}\nthread {told['thread']:x}")
    for name in PLACES:
        address, size = places.get(name, (0, 0))
        print(f"place {address:x} {address + size:x} {name}")
    for key, value in LABELS.items():
        print(f"label {key} {value}")
    for name, address in every.items():
        print(f"function {address:x} 0 {int(name in WAITS)} {name}")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
