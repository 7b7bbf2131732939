// Anvil-build builds the programs of a project, which need libraries.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/anvil-build/graph"
)

const (
	slots    = 4
	patience = 100 * time.Millisecond
	projects = 5
)

// readProject reads which libraries the programs of a project need.
func readProject(project int) (programs []*graph.Target) {
	for p := range 6 {
		program := &graph.Target{Name: fmt.Sprintf("project %d program %d", project, p), Size: 8000}
		for l := range 3 {
			program.Needs = append(program.Needs, &graph.Target{Name: fmt.Sprintf("%s library %d", program.Name, l), Size: 4000})
		}
		programs = append(programs, program)
	}
	return programs
}

func buildAll(late bool) (took time.Duration, overrun int64) {
	begin := time.Now()
	for project := range projects {
		b := graph.NewBuilder(slots, patience)
		b.Late = late
		var open sync.WaitGroup
		for _, program := range readProject(project) {
			open.Go(func() { b.Build(program) })
		}
		open.Wait()
		overrun += b.Overrun.Load()
	}
	return time.Since(begin), overrun
}

func main() {
	rec.Start()
	took, overrun := buildAll(false)
	rec.Stop()
	took2, overrun2 := buildAll(true)
	fmt.Fprintf(os.Stderr, "proof: %d projects built in %v, %d targets lost patience with the slots after %v; if a slot is taken when the libraries are there, untraced: %v, %d lost patience\n",
		projects, took.Round(time.Millisecond), overrun, patience, took2.Round(time.Millisecond), overrun2)
}
