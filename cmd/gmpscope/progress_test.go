package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/reference"
)

func TestCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := term.NewProgress(&b)
		seen := 0
		see := counted(p, func(*reference.Decision) error {
			seen++
			return nil
		})
		const all = 300_000
		for range all {
			if err := see(&reference.Decision{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		p.Done()
		if seen != all || !strings.Contains(b.String(), "0.3 M decisions") {
			t.Errorf("of %d decisions %d were seen, and progress is %q", all, seen, b.String())
		}
	})
}
