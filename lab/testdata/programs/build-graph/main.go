// Build-graph builds the packages of a project in the order of their imports.
// A package begins when all that it imports are built, and no more are built
// at once than there are CPUs.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	packages    = 150
	sourceBytes = 64 << 10
)

type pkg struct {
	id      int
	imports []*pkg
	source  []byte
	built   chan struct{}
	sum     [sha256.Size]byte
	took    time.Duration
}

type builder struct {
	slots chan struct{}
}

func main() {
	project := loadProject()
	b := &builder{slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	rec.Start()
	begin := time.Now()
	var building sync.WaitGroup
	for _, p := range project {
		building.Go(func() { b.build(p) })
	}
	building.Wait()
	total := time.Since(begin)
	rec.Stop()
	var work time.Duration
	for _, p := range project {
		work += p.took
	}
	fmt.Fprintf(os.Stderr, "proof: %d packages in %v; compiling took %v in all, so %.2f at a time of %d\n", packages,
		total.Round(time.Millisecond), work.Round(time.Millisecond), float64(work)/float64(total), cap(b.slots))
}

// loadProject has each package import up to three of the ten before the last
// two, so that there is always something else to build.
func loadProject() []*pkg {
	var project []*pkg
	for id := range packages {
		p := &pkg{id: id, source: make([]byte, sourceBytes*(1+id%3)), built: make(chan struct{})}
		for _, back := range []int{4, 7, 11} {
			if id >= back && (id+back)%3 != 0 {
				p.imports = append(p.imports, project[id-back])
			}
		}
		project = append(project, p)
	}
	return project
}

func (b *builder) build(p *pkg) {
	for _, dep := range p.imports {
		<-dep.built
	}
	b.slots <- struct{}{}
	begin := time.Now()
	p.compile()
	p.took = time.Since(begin)
	<-b.slots
	close(p.built)
}

func (p *pkg) compile() {
	h := sha256.New()
	for _, dep := range p.imports {
		h.Write(dep.sum[:])
	}
	for range 90 {
		h.Write(p.source)
	}
	h.Sum(p.sum[:0])
}
