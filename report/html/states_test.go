package html

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
)

// A row says in numbers what its bar shows.
func TestLives(t *testing.T) {
	c := breakdown.Class{ID: 1, Name: "srv.handle", Goroutines: 12}
	c.RunningNs, c.RunnableNs, c.SyscallNs, c.UnknownNs = 10e6, 20e6, 5e6, 1e6
	c.BlockedNs[breakdown.ReasonNetwork], c.BlockedNs[breakdown.ReasonSync] = 60e6, 4e6
	v := newStatesView(&analyze.Result{Breakdown: breakdown.Result{Program: c.TimeByState, Classes: []breakdown.Class{c, {ID: 2, Name: "main.unseen"}}}}, nil)
	if len(v.Rows) != 1 {
		t.Fatalf("%+v", v.Rows)
	}
	var got []string
	for _, c := range v.Rows[0].Cells {
		got = append(got, c.Text)
	}
	if s := strings.Join(got, "|"); s != "100 ms|10 %|20 %|64 %|5 %|1 %|network 60 % and sync (locks) 4 %" {
		t.Error(s)
	}
	for _, part := range []string{`class="f-user"`, "runnable: 20 ms, 20 %", "blocked: 64 ms, 64 %"} {
		if !strings.Contains(string(v.Rows[0].Bar), part) {
			t.Errorf("no %s in %s", part, v.Rows[0].Bar)
		}
	}
	if newStatesView(&analyze.Result{}, nil) != nil {
		t.Error("lives of nobody")
	}
}

func TestPageHasLives(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, fakeDoc(4, 100), Options{}); err != nil {
		t.Fatal(err)
	}
	classes := fakeDoc(4, 100).Result.Breakdown.Classes
	_, section, found := strings.Cut(b.String(), `<section id="lives">`)
	section, _, _ = strings.Cut(section, "</section>")
	if n := strings.Count(section, "<tr"); !found || n != len(classes)+1 {
		t.Errorf("%d rows", n)
	}
	if !strings.Contains(b.String(), `href="#lives"`) || !strings.Contains(section, "that goroutines of the program existed") {
		t.Error("no way there, or no lead")
	}
}
