package damage_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// A trace that is taken apart and put together is what it was, and nearly all of
// it can be taken apart.
func TestRoundTrip(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*-p2.trace.gz", "real/*.trace.gz"} {
		more, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "traces", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	if len(files) < 12 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "empty") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := tracetest.Unpacked(t, file)
			tr := damage.Parse(b)
			if !bytes.Equal(tr.Bytes(), b) {
				t.Error("it is another one")
			}
			rest := len(tr.Tail)
			for _, blk := range tr.Blocks {
				rest += len(blk.Rest)
			}
			if rest > len(b)/50 {
				t.Errorf("%d of %d bytes were not understood", rest, len(b))
			}
		})
	}
}

// Each named damage is done to traces of all formats, and to what it says.
func TestNamed(t *testing.T) {
	for _, name := range []string{"steal-small-go1.26-p2", "retake-small-go1.25-p2", "network-go1.24-p4", "retake-small-go1.22-p2", "real/v1-context-go1.21"} {
		b := tracetest.Recorded(t, name)
		before := damage.Parse(b)
		count := func(tr *damage.Trace) (events int, longest uint64) {
			for _, blk := range tr.Blocks {
				events += len(blk.Events)
				for _, e := range blk.Events {
					for _, x := range e.Args {
						longest = max(longest, x)
					}
				}
			}
			return events, longest
		}
		events, _ := count(before)
		programs := damage.Programs(b)
		if len(programs) != 17 {
			t.Errorf("%s: %d programs", name, len(programs))
		}
		for _, p := range programs {
			got := damage.Apply(b, p.Program)
			if bytes.Equal(got, b) {
				t.Errorf("%s: %s: nothing happened", name, p.Name)
			}
			after := damage.Parse(got)
			n, longest := count(after)
			ok := true
			switch p.Name {
			case "a batch dropped":
				ok = len(after.Blocks) == len(before.Blocks)-1 || after.V1()
			case "a batch twice":
				ok = len(after.Blocks) == len(before.Blocks)+1
			case "a batch cut":
				ok = n < events
			case "a huge number":
				ok = longest == math.MaxUint64
			case "a million Ps":
				ok = longest >= 1_000_000
			case "a storm of Ps", "a storm of events":
				ok = n >= events+20_000 || len(after.Tail) > 0 || after.V1() // larger than a batch may be
			case "a goroutine's id used again":
				ok = n == events+1
			}
			if !ok {
				t.Errorf("%s: %s: %d batches and %d events became %d and %d", name, p.Name, len(before.Blocks), events, len(after.Blocks), n)
			}
		}
	}
}

// Every operation changes something, and none fails, whatever follows it.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"steal-small-go1.26-p2", "retake-small-go1.22-p2", "real/v1-context-go1.21"} {
		b := tracetest.Recorded(t, name)
		for op := range 26 {
			changed := 0
			for x := range 24 {
				got := damage.Apply(b, []byte{byte(op), byte(x), byte(x * 7), byte(x), byte(x * 31), byte(x), byte(x * 3)})
				if !bytes.Equal(got, b) {
					changed++
				}
			}
			if changed == 0 && !(strings.Contains(name, "v1") && (op == 5 || op == 6 || op == 7)) {
				t.Errorf("%s: operation %d does nothing", name, op)
			}
		}
	}
}
