package main

import (
	"flag"
	"os"
	"testing"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

var shared table

func BenchmarkPut(b *testing.B) {
	b.ResetTimer()
	defer mark.Begin("put").End()
	for range b.N {
		shared.put()
	}
}

func BenchmarkHash(b *testing.B) {
	defer mark.Begin("hash").End()
	for n := 0; b.Loop(); n++ {
		hash(n)
	}
}

func TestMain(m *testing.M) {
	for name, value := range map[string]string{"test.bench": ".", "test.benchtime": "30ms", "test.count": "2"} {
		if err := flag.Set(name, value); err != nil {
			mark.Check(err)
		}
	}
	go shared.compact()
	mark.Start()
	if status := m.Run(); status != 0 {
		os.Exit(status)
	}
	mark.Stop()
}
