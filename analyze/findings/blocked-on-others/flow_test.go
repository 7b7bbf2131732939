package blockedonothers_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	blockedonothers "github.com/gmpscope/gmpscope/analyze/findings/blocked-on-others"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

// A handler that does something else before it reads the body holds up those that send on the same
// connection; one that reads at once does not.
func TestFlowControl(t *testing.T) {
	const (
		handler, serves, reads, sends = int64(1), int64(2), int64(3), int64(4)

		inStore, inWindow, inServe, inBody, inFlow, inFrame = int32(30), int32(31), int32(32), int32(33), int32(34), int32(35)
	)
	stacks := map[int32][]string{
		inStore:  {"net.(*conn).Read (net.go:1)", "main.authorize (main.go:9)", "main.store (main.go:5)", "net/http.(*http2serverConn).runHandler (h2_bundle.go:1)"},
		inBody:   {"sync.(*Cond).Wait (cond.go:1)", "net/http.(*http2requestBody).Read (h2_bundle.go:2)", "main.store (main.go:6)", "net/http.(*http2serverConn).runHandler (h2_bundle.go:1)"},
		inWindow: {"runtime.selectgo (select.go:1)", "net/http.(*http2serverConn).noteBodyReadFromHandler (h2_bundle.go:3)", "net/http.(*http2requestBody).Read (h2_bundle.go:2)", "main.store (main.go:6)", "net/http.(*http2serverConn).runHandler (h2_bundle.go:1)"},
		inServe:  {"runtime.selectgo (select.go:1)", "net/http.(*http2serverConn).serve (h2_bundle.go:4)"},
		inFlow:   {"sync.(*Cond).Wait (cond.go:1)", "net/http.(*http2clientStream).awaitFlowControl (h2_bundle.go:5)", "net/http.(*http2clientStream).doRequest (h2_bundle.go:6)"},
		inFrame:  {"sync.(*Cond).Broadcast (cond.go:1)", "net/http.(*http2ClientConn).readLoop (h2_bundle.go:7)"},
	}
	for blocked, found := range map[int32]bool{inStore: true, inBody: false} {
		s := New(1).Class(2, serves).Class(3, reads).Class(4, sends)
		at := func(stack int32) { s.Decisions[len(s.Decisions)-1].Stack = stack }
		for g := handler; g <= sends; g++ {
			s.Local(g, 0, reference.WhyCreate)
		}
		s.Start(serves, 0).Block(serves, reference.ReasonSelect)
		at(inServe)
		s.Start(reads, 0).Block(reads, reference.ReasonNetwork)
		for range 50 {
			s.Start(sends, 0).Block(sends, reference.ReasonCond)
			at(inFlow)
			s.Start(handler, 0).Block(handler, reference.ReasonNetwork)
			at(blocked)
			s.Pass(8*Ms).Local(handler, 0, reference.WhyNetwork).Start(handler, 0).Wake(serves, handler)
			at(inWindow)
			s.Stop(handler, reference.WhyGosched).Local(handler, 0, reference.WhyGosched).Start(serves, 0).Block(serves, reference.ReasonSelect)
			at(inServe)
			s.Local(reads, 0, reference.WhyNetwork).Start(reads, 0).Wake(sends, reads)
			at(inFrame)
			s.Block(reads, reference.ReasonNetwork)
		}
		f := s.Facts()
		f.Stack = func(h int32) []string { return stacks[h] }
		list := s.DetectWith(blockedonothers.New(blockedonothers.Default()), f)
		want := "main.store does not read its HTTP/2 stream: others wait "
		if got := len(list) == 1 && strings.HasPrefix(list[0].Headline.String(), want); got != found {
			t.Errorf("%d: found %t\n%s", blocked, got, Text(list))
		}
		if found && (len(list) != 1 || !strings.Contains(list[0].Title.String(), "blocked in main.authorize for up to 8") || list[0].Actors[1].Role != findings.Cause) {
			t.Error(Text(list))
		}
	}
}
