package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// hostileTraces are of the formats that differ in what they name; the last has
// tasks, regions and logs.
var hostileTraces = []string{"uneven-go1.26-p4", "network-go1.24-p4", "real/v1-context-go1.21", "real/annot-go1.26-p4to8"}

// hostileFile is a name that a file can have.
const hostileFile = "<img src=x onerror=window.pwned=7>\x1b]0;title\x07\n::error::\u202e\xff"

// workflowCommand matches a line that GitHub's runner would obey.
var workflowCommand = regexp.MustCompile(`(?m)^[\s\p{Z}]*::.*`)

// hostile writes a trace of ours in which every text would do harm where it is
// not escaped, under such a name. Each text ends in what it names.
func hostile(t testing.TB, name string) string {
	t.Helper()
	tr := damage.Parse(tracetest.Recorded(t, name))
	kinds := kinds(tr)
	makeRoom(tr)
	n := 0
	tr.Strings(func(old string) string {
		n++
		if strings.HasPrefix(old, "runtime.") || strings.HasPrefix(old, "main.") && n%3 == 0 {
			return old // so that goroutines still have classes
		}
		return fmt.Sprintf("%s %s#%d", damage.Hostile[n%len(damage.Hostile)], kinds[old], n)
	})
	file := filepath.Join(t.TempDir(), hostileFile)
	if err := os.WriteFile(file, tr.Bytes(), 0o600); err != nil {
		t.Skipf("no file can have that name here: %v", err)
	}
	return file
}

// makeRoom spreads the texts of a trace over more batches, so that they can be
// replaced by longer ones.
func makeRoom(tr *damage.Trace) {
	for i := 0; i < len(tr.Blocks); i++ {
		b := &tr.Blocks[i]
		if tr.V1() || len(b.Events) < 100 || b.Events[0].Kind != wire.Strings {
			continue
		}
		rest, half := *b, len(b.Events)/2
		rest.Events = append([]damage.Event{b.Events[0]}, b.Events[half:]...)
		b.Events = b.Events[:half]
		tr.Blocks = slices.Insert(tr.Blocks, i+1, rest)
		i--
	}
}

// kinds reports what the texts of a trace name, by the event that refers to them;
// "" for the formats before Go 1.22.
func kinds(tr *damage.Trace) map[string]string {
	out := map[string]string{}
	if tr.V1() {
		return out
	}
	const (
		framesFrom     = 2
		wordsOfAFrame  = 4
		functionOfThem = 1
		fileOfThem     = 2
	)
	type id struct{ gen, id uint64 }
	texts := map[id]string{}
	for _, b := range tr.Blocks {
		for _, e := range b.Events {
			if e.Kind == wire.String {
				texts[id{b.Gen, e.Args[0]}] = string(e.Text)
			}
		}
	}
	for _, b := range tr.Blocks {
		for _, e := range b.Events {
			say := func(arg int, kind string) { out[texts[id{b.Gen, e.Args[arg]}]] = kind }
			switch e.Kind {
			case wire.Stack:
				for i := framesFrom; i < len(e.Args); i += wordsOfAFrame {
					say(i+functionOfThem, "function")
					say(i+fileOfThem, "file")
				}
			case wire.GoStop, wire.GoBlock:
				say(1, "reason")
			case wire.STWBegin:
				say(1, "stop")
			case wire.GoLabel:
				say(1, "label")
			case wire.UserTaskBegin:
				say(3, "task")
			case wire.UserRegionBegin:
				say(2, "region")
			case wire.UserLog:
				say(2, "category")
				say(3, "message")
			}
		}
	}
	return out
}

// TestHostileNames gives traces in which every text is hostile, and a hostile
// name, to all commands in all formats: what they print drives no terminal, says
// no command to a build service, and is whole in its own format. What a browser
// does with the reports, TestBrowserHostileTrace looks at.
func TestHostileNames(t *testing.T) {
	reached := map[string]bool{} // kinds of names that were printed
	names := hostileTraces
	if !tracetest.Long() {
		names = names[len(names)-1:]
	}
	for i, name := range names {
		trace := hostile(t, name)
		page := filepath.Join(t.TempDir(), "page.html")
		for _, args := range [][]string{
			{"analyze", trace},
			{"analyze", trace, "--reference"},
			{"analyze", trace, "--format", "json", "--timeline"},
			{"export", "bench", trace, "-o", "-"},
			{"export", "openmetrics", trace, "-o", "-"},
			{"report", trace, "--no-fetch", "-o", page},
			{"dump", trace},
			{"replay", trace},
			{"replay", trace, "--simulate", "--seeds", "1", "--policy", "fifo", "--format", "json"},
			{"diff", trace, trace, "-o", page},
			{"diff", trace, trace, "--format", "json"},
			{"check", trace, "--fail-on", "note"},
			{"check", trace, "--fail-on", "note", "--format", "json"},
			{"check", trace, "--fail-on", "note", "--format", "junit"},
			{"check", trace, "--fail-on", "note", "--format", "sarif"},
			{"check", trace, "--fail-on", "note", "--format", "github"},
			{"fleet", trace, "--format", "text", "--label", "service=::add-mask::pwned"},
			{"analyze", trace + " which does not exist"},
			{"report", trace, "--no-fetch", "-o", filepath.Join(filepath.Dir(trace), "none", hostileFile)},
			{"report", trace, "--no-fetch", "-o", filepath.Join(filepath.Dir(trace), hostileFile+".html")},
		} {
			if (i > 0 || !tracetest.Long()) && (slices.Contains(args, "--simulate") || slices.Contains(args, "--reference")) {
				continue // which take long
			}
			var out, errs bytes.Buffer
			code := run(context.Background(), args, nil, &out, &errs)
			what := args[0] + " " + strings.Join(args[2:], " ")
			if code == exitUsage {
				t.Fatalf("%q: %s", what, errs.String())
			}
			text := append(out.Bytes(), errs.Bytes()...)
			html, err := os.ReadFile(page)
			if err == nil {
				text = append(text, html...)
				os.Remove(page)
			}
			for _, kind := range []string{"function", "file", "reason", "stop", "label", "task", "region", "category", "message"} {
				if bytes.Contains(text, []byte(" "+kind+"#")) {
					reached[kind] = true
				}
			}
			if !utf8.Valid(text) {
				t.Errorf("%s of %s: no UTF-8", what, name)
			}
			drives := func(r rune) bool {
				return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028 || r == 0x200b || r == 0xe0001
			}
			if i := bytes.IndexFunc(text, drives); i >= 0 {
				t.Errorf("%s of %s: %q", what, name, text[max(0, i-40):min(len(text), i+40)])
			}
			if i := bytes.Index(text, []byte("##[")); i >= 0 && html == nil && !slices.Contains(args, "github") {
				t.Errorf("%s of %s: an order in %q", what, name, text[max(0, i-40):min(len(text), i+40)])
			}
			if line := workflowCommand.Find(text); line != nil && html == nil && !slices.Contains(args, "github") {
				t.Errorf("%s of %s: a line begins with a workflow command: %q", what, name, line)
			}
			for _, markup := range []string{"<img src=x", "<script>window.pwned", "]]></system-out><pwned"} {
				if i := bytes.Index(html, []byte(markup)); i >= 0 {
					t.Errorf("%s of %s: %q", what, name, html[i:min(len(html), i+80)])
				}
			}
			switch {
			case code == exitFailure:
				if bytes.Count(errs.Bytes(), []byte("\n")) != 1 {
					t.Errorf("%s of %s: not one line: %q", what, name, errs.String())
				}
			case slices.Contains(args, "json"), slices.Contains(args, "sarif"):
				if !json.Valid(out.Bytes()) {
					t.Errorf("%s of %s: no JSON", what, name)
				}
			case args[0] == "dump":
				for line := range bytes.Lines(out.Bytes()) {
					if !json.Valid(line) {
						t.Errorf("%s of %s: no JSON: %.200q", what, name, line)
						break
					}
				}
			case slices.Contains(args, "junit"):
				d := xml.NewDecoder(&out)
				for {
					token, err := d.Token()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Errorf("%s of %s: %v", what, name, err)
						break
					}
					if e, ok := token.(xml.StartElement); ok && strings.Contains(e.Name.Local, "pwned") {
						t.Errorf("%s of %s: a name became an element", what, name)
					}
				}
			case slices.Contains(args, "github"):
				for line := range bytes.Lines(out.Bytes()) {
					if bytes.Contains(line, []byte("::")) && !bytes.Contains(line, []byte("title=gmpscope%3A ")) {
						t.Errorf("%s of %s: a name became a command: %q", what, name, line)
					}
				}
			}
		}
	}
	for _, kind := range []string{"function", "file", "stop", "task", "region"} { // no output has the others
		if !reached[kind] {
			t.Errorf("no name of a %s was printed: its escaping was not tried", kind)
		}
	}
	t.Logf("printed: %v", reached)
}
