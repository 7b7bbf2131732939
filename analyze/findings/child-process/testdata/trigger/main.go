// Trigger starts a process six times, one after the other, that sleeps for 60 ms, and computes for
// 20 ms after each.
//
// The near miss computes while the process runs.
//
//gmpscope:case procs=2 go=go1.26.8 want=child-process:warning
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want=
package main

import (
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

// helper is set in the environment of the process that is started.
const helper = "CHILD_PROCESS_HELPER"

func main() {
	if os.Getenv(helper) != "" {
		time.Sleep(60 * time.Millisecond)
		return
	}
	rec.Start()
	for range 6 {
		run()
	}
	rec.Stop()
}

func run() {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), helper+"=1")
	if err := child.Start(); err != nil {
		log.Fatal(err)
	}
	if rec.Case() == "near-miss" {
		rec.Work(60_000)
	}
	if err := child.Wait(); err != nil {
		log.Fatal(err)
	}
	rec.Work(20_000)
}
