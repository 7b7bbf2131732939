// Package-slots checks the types of a program's packages. A package needs
// what its imports export, and one of a few slots, because each check holds
// much memory.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	modules  = 20
	depth    = 10
	slots    = 8
	fetching = 4 * time.Millisecond
)

type pkg struct {
	path    string
	imports []*pkg
	checked chan struct{}
	took    time.Duration
}

type checker struct {
	slots chan struct{}
	idle  atomic.Int64
}

func main() {
	packages := loadPackages()
	c := &checker{slots: make(chan struct{}, slots)}
	rec.Start()
	start := time.Now()
	c.checkAll(packages)
	took := time.Since(start)
	rec.Stop()
	var work time.Duration
	for _, p := range packages {
		work += p.took
	}
	fmt.Fprintf(os.Stderr, "proof: %d packages in %d chains of %d took %v; the checks took %v in all, and for %v the slots were held by packages that waited for an import\n",
		len(packages), modules, depth, took, work, time.Duration(c.idle.Load()))
}

// loadPackages returns the packages module by module, imports first.
func loadPackages() (packages []*pkg) {
	for m := range modules {
		for d := range depth {
			p := &pkg{path: fmt.Sprintf("module%d/layer%d", m, d), checked: make(chan struct{})}
			if d > 0 {
				p.imports = []*pkg{packages[len(packages)-1]}
			}
			packages = append(packages, p)
		}
	}
	return packages
}

// checkAll starts the checks in an order in which none comes before its
// imports.
func (c *checker) checkAll(packages []*pkg) {
	var open sync.WaitGroup
	for _, p := range packages {
		c.slots <- struct{}{}
		open.Go(func() {
			defer func() { <-c.slots }()
			c.check(p)
		})
	}
	open.Wait()
}

// check checks one package, after its imports.
func (c *checker) check(p *pkg) {
	start := time.Now()
	for _, imported := range p.imports {
		<-imported.checked
	}
	c.idle.Add(int64(time.Since(start)))
	start = time.Now()
	fetchSources(p)
	typeCheck(p)
	p.took = time.Since(start)
	close(p.checked)
}

// fetchSources gets the sources from the module cache's server.
func fetchSources(*pkg) { time.Sleep(fetching) }

func typeCheck(p *pkg) { rec.Work(40 * len(p.path)) }
