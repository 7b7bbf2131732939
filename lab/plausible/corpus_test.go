package plausible_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/lab/plausible"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

// result analyses a trace; nil where nothing can be read.
func result(t testing.TB, name string, trace []byte) *analyze.Result {
	t.Helper()
	src, err := input.New(bytes.NewReader(trace), name)
	if err != nil {
		return nil
	}
	defer src.Close()
	r, err := analyze.Run(t.Context(), src, analyze.Options{Workers: 1})
	if err != nil {
		return nil
	}
	return r
}

// complain records what cannot be, of each kind a little.
func complain(t testing.TB, where string, found []string) {
	t.Helper()
	for i, s := range found {
		if i == 5 {
			t.Errorf("%s: … and %d more", where, len(found)-i)
			break
		}
		t.Errorf("%s: %s", where, s)
	}
}

// check holds the numbers of a result against each other, and reads what is
// written of it.
func check(t testing.TB, r *analyze.Result, page bool) {
	t.Helper()
	complain(t, "result", plausible.Result(r))
	doc := report.Build(r, "gmpscope")
	var text bytes.Buffer
	if err := report.WriteText(&text, doc, report.TextOptions{AllFindings: true}); err != nil {
		t.Fatal(err)
	}
	complain(t, "text", plausible.Text(text.String()))
	if err := report.WriteJSON(&text, doc, report.JSONOptions{}); err != nil { // refuses what is no number
		t.Error(err)
	}
	if page {
		text.Reset()
		if err := html.Write(&text, doc, html.Options{}); err != nil {
			t.Fatal(err)
		}
		complain(t, "page", plausible.HTML(text.String()))
	}
}

func checkDiff(t testing.TB, before, after []*analyze.Result) {
	t.Helper()
	c, err := compare.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	complain(t, "comparison", plausible.Comparison(c))
	var out bytes.Buffer
	if err := report.WriteDiffText(&out, c, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	complain(t, "text of the comparison", plausible.Text(out.String()))
	out.Reset()
	if err := report.WriteDiffJSON(&out, c, "gmpscope"); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := html.WriteDiff(&out, c, nil, nil, "gmpscope", html.Options{}); err != nil {
		t.Fatal(err)
	}
	complain(t, "page of the comparison", plausible.HTML(out.String()))
}

// TestTraces reads the reports on the repository's traces: no number in them
// cannot be.
func TestTraces(t *testing.T) {
	for i, file := range traces(t) {
		if testing.Short() && i%10 != 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".trace.gz"), func(t *testing.T) {
			r := result(t, "a", tracetest.Unpacked(t, file))
			if r == nil {
				t.Skip("there is nothing in it")
			}
			check(t, r, i%5 == 0)
		})
	}
}

func traces(t testing.TB) []string {
	var out []string
	err := filepath.WalkDir(filepath.Join("..", "..", "testdata", "traces"), func(file string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".trace.gz") {
			out = append(out, file)
		}
		return err
	})
	if err != nil || len(out) < 100 {
		t.Fatalf("%d traces, %v", len(out), err)
	}
	return out
}

// TestPairs compares what the repository has of before and after, one trace a
// side and all of them.
func TestPairs(t *testing.T) {
	sides := map[string]*[2][]*analyze.Result{}
	dir := filepath.Join("..", "..", "testdata", "traces", "pairs")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".trace.gz")
		if !ok {
			continue
		}
		at := strings.LastIndexByte(name, '-')
		if testing.Short() && name[at:] > "-1" {
			continue
		}
		name = name[:at]
		pair, before := strings.CutSuffix(name, "-before")
		pair = strings.TrimSuffix(pair, "-after")
		if sides[pair] == nil {
			sides[pair] = new([2][]*analyze.Result)
		}
		s := &sides[pair][1]
		if before {
			s = &sides[pair][0]
		}
		if r := result(t, f.Name(), tracetest.Unpacked(t, filepath.Join(dir, f.Name()))); r != nil {
			*s = append(*s, r)
		}
	}
	if len(sides) < 5 {
		t.Fatalf("%d pairs", len(sides))
	}
	var last *analyze.Result
	for pair, s := range sides {
		t.Run(pair, func(t *testing.T) {
			checkDiff(t, s[0], s[1])
			for i := range min(len(s[0]), len(s[1])) {
				checkDiff(t, s[0][i:i+1], s[1][i:i+1])
			}
			checkDiff(t, s[0][:1], s[0][:1]) // nothing changed
			if last != nil {
				checkDiff(t, []*analyze.Result{last}, s[1][:1]) // they have nothing in common
			}
			last = s[0][0]
		})
	}
}

// victims are small traces of all formats. Their order is part of the fuzz
// corpus: append only.
var victims = []string{
	"real/v1-context-go1.21", "retake-small-go1.22-p2", "mutex-go1.24-p4", "overflow-go1.25-p1", "steal-small-go1.26-p2",
	"real/cgo-zstd-go1.25-p4", "locked-threads-go1.27-p2", "gosched-go1.26-p2", "timers-go1.22-p4", "forever-go1.26-p4",
}

// FuzzDocument damages traces: what is written of what is left cannot be wrong
// by its numbers.
func FuzzDocument(f *testing.F) {
	var whole [][]byte
	for _, name := range victims {
		whole = append(whole, tracetest.Recorded(f, name))
	}
	for op := range byte(26) { // each operation, on traces of all formats
		f.Add(op%byte(len(victims)), []byte{op, 0, 2, 0, 9, 2, 3})
		f.Add((op+3)%byte(len(victims)), []byte{op, 1, 7, 1, 2, 3, 5, op, 0, 40, 0, 17, 1, 7})
	}
	for i, b := range whole[:2] {
		for _, p := range damage.Programs(b) {
			f.Add(byte(i), p.Program)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, program []byte) {
		if len(program) > 60 {
			return // more damage says nothing new
		}
		checkDamaged(t, whole[int(which)%len(whole)], program)
	})
}

// TestDamaged damages the repository's traces at random, the same way each time.
func TestDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for i, file := range traces(t) {
		if info, err := os.Stat(file); err != nil || info.Size() > 20_000 || i%damagedOf != 0 {
			continue
		}
		trace := tracetest.Unpacked(t, file)
		if len(trace) < 100 {
			continue
		}
		program := make([]byte, 1+rnd.IntN(40))
		for i := range program {
			program[i] = byte(rnd.Uint32())
		}
		t.Run(fmt.Sprintf("%s with %x", strings.TrimSuffix(filepath.Base(file), ".trace.gz"), program), func(t *testing.T) {
			checkDamaged(t, trace, program)
		})
	}
}

// TestFoundDamaged damages traces as they once gave findings that cost more than
// there was.
func TestFoundDamaged(t *testing.T) {
	files := traces(t)
	for name, program := range map[string]string{
		"procs-halved-after-4":             "dde3736f1233a2b5b11404fd6c478a97d17f",
		"jswasm-context-go1.26":            "4a61a8528a033ac4317313d11aa8393531c6ec073526390e46bbc32a5c6e8ad7f4658216f7b3",
		"network-go1.24-p4":                "bd4d2c3cf58adcfe78fd29d42f1386764f219506d77e9e41883fcbb6019d5b50a11c6dcc44",
		"slow-restart-near-miss-go1.24-p2": "845bc448e0c43e08f36828408f63",
		"netpoll-delay-trigger-go1.23-p2":  "eb1eebc378594f3c2d89bf30326a03861e62f4e120ac8e07d1f431f4f603",
		"all-workers-go1.22-p2":            "8497b76f2597056e5c5d0205700a81a4ee952d4d39450f587e19929483875f54ae7ce641",
		"retake-stall-trigger-go1.26-p1":   "96ab50d08d9703c38bb61f740648be3d56e575dfda060d3b2033df927dfdc032b771",
		"preempt-small-go1.26-p1":          "ab68b3a85d5d888f27ab5da3b348aac9b3ac442a37899b240352d9f693d130998a",
		"fan-out-limited-after-3":          "5e0933585c9983e1103c02ef8b5d4e09f7ba349b3b5fc2ac1a55433c35",
	} {
		i := slices.IndexFunc(files, func(file string) bool { return filepath.Base(file) == name+".trace.gz" })
		bytes, err := hex.DecodeString(program)
		if i < 0 || err != nil {
			t.Fatal(name, err)
		}
		t.Run(name, func(t *testing.T) { checkDamaged(t, tracetest.Unpacked(t, files[i]), bytes) })
	}
}

// damagedOf is of how many traces TestDamaged takes one.
const damagedOf = 3

func checkDamaged(t testing.TB, whole, program []byte) {
	t.Helper()
	r := result(t, "damaged", damage.Apply(whole, program))
	if r == nil {
		return
	}
	// What is said of damage quotes the damaged numbers.
	r.Trace.Warnings = nil
	for i := range r.Findings {
		if f := &r.Findings[i]; f.ID == "trace-quality" {
			f.Evidence = slices.DeleteFunc(f.Evidence, func(e findings.Evidence) bool { return e.What.String() == "warning" })
		}
	}
	check(t, r, len(program)%8 == 7)
	if len(program)%8 == 3 {
		checkDiff(t, []*analyze.Result{result(t, "sound", whole)}, []*analyze.Result{r})
	}
}
