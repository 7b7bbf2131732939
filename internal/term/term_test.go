package term

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"main.worker", "main.worker"},
		{"長い名前", "長い名前"},
		{"a\x1b[31mb", "a<U+001B>[31mb"},
		{"a\r\nb", "a<U+000D><U+000A>b"},
		{"a\u202egnp", "a<U+202E>gnp"},
		{"a\xffb", "a\ufffdb"},
		{"\u009b31m", "<U+009B>31m"},
		{"a ##[add-mask]x ###vso[task]", "a ##<U+005B>add-mask]x ###vso<U+005B>task]"},
		{"## a [b] #[c]", "## a [b] #[c]"},
	} {
		if got := Visible(c.in); got != c.want {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"a\n::error::x\n":              "a\n:<U+003A>error::x\n",
		" \t\u3000::error::x":          " \t\u3000:<U+003A>error::x",
		"::::":                         ":<U+003A>::",
		"a::b ::c\n: :d\n:\n:":         "a::b ::c\n: :d\n:\n:",
		"main.(*T).f  ::add-mask::abc": "main.(*T).f  ::add-mask::abc",
	} {
		for n := 1; n <= len(in); n++ {
			var b bytes.Buffer
			w := Lines(&b)
			for chunk := range slices.Chunk([]byte(in), n) {
				if got, err := w.Write(chunk); got != len(chunk) || err != nil {
					t.Fatal(got, err)
				}
			}
			if b.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, n, b.String(), want)
			}
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("\n  broken trace: x\nsecond line\n"), "broken trace: x"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

func TestNoTerminal(t *testing.T) {
	var b bytes.Buffer
	none := func(string) string { return "" }
	if Is(&b) || Controls(&b, none) || Color(&b, none) {
		t.Error("a buffer counts as a terminal")
	}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := NewProgress(&b)
		p.Update(1, 20_000_000)
		time.Sleep(firstShown / 2)
		synctest.Wait()
		if b.Len() > 0 {
			t.Errorf("progress shown at once: %q", b.String())
		}
		p.Update(5_000_000, 20_000_000)
		p.Events(400_000)
		p.Events(200_000)
		time.Sleep(firstShown)
		p.Done()
		got := b.String()
		if !strings.Contains(got, "25 %  5 MB of 20 MB  0.6 M events  2.0 M/s  1s left") {
			t.Errorf("progress is %q", got)
		}
		if !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("the line stays: %q", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := NewProgress(&b)
		p.Done()
		if b.Len() > 0 {
			t.Errorf("short work shows progress: %q", b.String())
		}
	})
	none := (*Progress)(nil)
	none.Update(1, 2)
	none.Events(1)
	none.Done()
}

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		read, total, events int64
		elapsed             time.Duration
		want                string
	}{
		{3_000_000, 0, 0, 2 * time.Second, "3 MB  2s"},
		{1_000_000, 11_000_000, 0, time.Second, "[..........]   9 %  1 MB of 11 MB  10s left"},
		{11_000_000, 11_000_000, 3_000_000, 2 * time.Second, "[##########] 100 %  11 MB of 11 MB  3.0 M events  1.5 M/s  2s"},
	} {
		if got := progressLine(c.read, c.total, c.events, c.elapsed); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got, want := barLine("simulating", 3_000, 12_000, 2*time.Second), "simulating [##........]  25 %  2s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
