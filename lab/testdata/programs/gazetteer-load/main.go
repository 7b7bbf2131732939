// Gazetteer-load builds an index of place names in memory, once, at the start
// of a nightly job. It allocates a lot, so that the collector runs beside it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	places  = 60_000
	packUp  = 4 // names share records by the first letters
	columns = 4
)

type place struct {
	name    string
	columns []string
}

type gazetteer struct {
	byName   map[string]*place
	byPrefix map[string][]*place
}

// add parses one line and puts the place into the index.
func (g *gazetteer) add(line string) {
	fields := strings.Split(line, "\t")
	p := &place{name: strings.Clone(fields[0])}
	for _, f := range fields[1:] {
		p.columns = append(p.columns, strings.ToUpper(f))
	}
	g.byName[p.name] = p
	prefix := p.name[:packUp]
	g.byPrefix[prefix] = append(g.byPrefix[prefix], p)
}

// loadPlaces builds the index of all lines.
func loadPlaces(lines []string) *gazetteer {
	g := &gazetteer{byName: make(map[string]*place), byPrefix: make(map[string][]*place)}
	for _, line := range lines {
		g.add(line)
	}
	return g
}

func readLines() (lines []string) {
	for n := range places {
		name := fmt.Sprintf("%c%c%c%c-%06d", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26, 'a'+n%7, n)
		lines = append(lines, name+strings.Repeat(fmt.Sprintf("\tcolumn %d", n), columns))
	}
	return lines
}

func main() {
	lines := readLines()
	loadPlaces(lines) // so that memory is there already
	runtime.GC()
	debug.SetGCPercent(-1)
	start := time.Now()
	g := loadPlaces(lines)
	without := time.Since(start)
	want := len(g.byPrefix)
	g = nil
	runtime.GC()
	debug.SetGCPercent(100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec.Start()
	const nights = 4
	start = time.Now()
	for range nights {
		if g = loadPlaces(lines); len(g.byPrefix) != want {
			panic("wrong index")
		}
		g = nil
	}
	took := time.Since(start) / nights
	rec.Stop()
	runtime.ReadMemStats(&after)
	fmt.Fprintf(os.Stderr, "proof: a load of %d places took %v, beside %d collections, and %v without any; nobody waits for it\n",
		places, took, after.NumGC-before.NumGC, without)
}
