package connectionchurn_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	connectionchurn "github.com/gmpscope/gmpscope/analyze/findings/connection-churn"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

// detect has goroutine 9 create n goroutines that open a connection each, a millisecond apart, of
// which ended are closed again, under the names of a Go release.
func detect(n, ended int64, opener string) []findings.Finding {
	s := New(2).Class(1, 9)
	for i := range n {
		open, read := 1000+2*i, 1001+2*i
		s.Class(2, open).Class(3, read)
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Create(open, 9).Stop(9, reference.WhyBlock)
		s.Start(open, 0).Pass(500*Us).Create(read, open).Stop(open, reference.WhyExit)
		why := reference.WhyBlock
		if i < ended {
			why = reference.WhyExit
		}
		s.Run(read, 0, 500*Us, why)
	}
	f := s.Facts()
	f.ClassName = func(c int32) (string, string) {
		return []string{"", "main.fetch", opener, "net/http.(*persistConn).readLoop"}[c], "main.main"
	}
	return s.DetectWith(connectionchurn.New(connectionchurn.Default()), f)
}

func TestFindsConnectionsThatAreNotKept(t *testing.T) {
	for _, opener := range []string{"net/http.(*Transport).dialConnFor", "net/http.(*Transport).startDialConnForLocked.func1"} {
		x := One(t, detect(200, 150, opener), connectionchurn.ID, findings.Warning)
		want := "main.f9, called by main.fetch, opened connections for requests of net/http: 200, 1,000 a second, of which 150 were not kept; opening them took 100 ms in all"
		if x.Title.String() != want {
			t.Errorf("%s, want %s", x.Title, want)
		}
		if c := x.Cause(); c == nil || c.Class != "main.fetch" || c.G != 9 {
			t.Errorf("cause %v", c)
		}
	}
}

func TestNearMisses(t *testing.T) {
	for _, c := range []struct {
		what     string
		n, ended int64
		opener   string
	}{
		{"a pool that fills", 200, 90, "net/http.(*Transport).dialConnFor"},
		{"few", 40, 40, "net/http.(*Transport).dialConnFor"},
		{"other goroutines", 200, 200, "main.work"},
	} {
		t.Run(c.what, func(t *testing.T) { None(t, detect(c.n, c.ended, c.opener)) })
	}
}
