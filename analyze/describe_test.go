package analyze

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
)

// A gap that is short beside the time before it is not told as one between equal
// times.
func TestDuring(t *testing.T) {
	for want, g := range map[string]events.Gap{
		"for 8.38 µs at 34.2 ms":                {From: 34_200_000, To: 34_208_380},
		"between 39.9 ms and 58.5 ms (18.6 ms)": {From: 39_900_000, To: 58_500_000},
	} {
		if got := during(g); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestProgram is for what a program is called, by its stacks.
func TestProgram(t *testing.T) {
	frame := func(name, file string) *events.Frame { return &events.Frame{Func: name, File: file} }
	of := func(frames ...*events.Frame) [][]*events.Frame { return [][]*events.Frame{frames} }
	tRunner := frame("testing.tRunner", "/go/src/testing/testing.go")
	for _, c := range []struct {
		stacks      [][]*events.Frame
		first, want string
	}{
		{of(frame("main.main", "/home/me/shop/cmd/orders/main.go"), frame("runtime.main", "/go/src/runtime/proc.go")), "main.main", "orders"},
		{of(frame("main.main", "example.com/tool@v1.2.3/main.go"), frame("runtime.main", "runtime/proc.go")), "main.main", "tool"},
		{of(frame("time.Sleep", ""), frame("main.main", `C:/work/orders/main.go`)), "main.main", "orders"},
		{of(frame("main.main", "_testmain.go"), frame("runtime.main", "runtime/proc.go")), "main.main", "main"},
		{of(frame("testing.runTests.func1", ""), tRunner), "main.main", "main"},
		{of(frame("runtime.chanrecv1", ""), frame("example.com/orders_test.TestPay", ""), tRunner), "main.main", "orders.test"},
		{of(frame("example.com/orders.BenchmarkPay", ""), frame("testing.(*B).runN", ""), frame("testing.(*B).launch", "")), "main.main", "orders.test"},
		{nil, "example.com/orders.main", "example.com/orders"},
		{nil, "", ""},
	} {
		if got := program(slices.Values(c.stacks), c.first); got != c.want {
			t.Errorf("%v, %q: %q, want %q", c.stacks, c.first, got, c.want)
		}
	}
}

// TestTestsOf is for which package is under test, by stacks.
func TestTestsOf(t *testing.T) {
	frame := func(name, file string) *events.Frame { return &events.Frame{Func: name, File: file} }
	tRunner, runN := frame("testing.tRunner", "testing/testing.go"), frame("testing.(*B).runN", "testing/benchmark.go")
	for _, c := range []struct {
		stack      []*events.Frame
		want       string
		function   string
		benchmarks bool
	}{
		{[]*events.Frame{frame("main.main", "main.go")}, "", "", false},
		{[]*events.Frame{frame("example.com/orders.Pay", "pay.go"), frame("example.com/orders_test.TestPay", "pay_test.go"), tRunner}, "example.com/orders", "example.com/orders_test.TestPay", false},
		{[]*events.Frame{frame("net.TestDial.gowrap1", "net/dial_test.go")}, "net", "net.TestDial", false},
		{[]*events.Frame{frame("example.com/orders.TestAll", "orderstest.go"), tRunner}, "example.com/orders", "", false},
		{[]*events.Frame{frame("gopkg.in/yaml%2ev3.BenchmarkRead", "yaml_test.go"), runN}, "gopkg.in/yaml.v3", "gopkg.in/yaml.v3.BenchmarkRead", true},
	} {
		tested, tests := testsOf(slices.Values([][]*events.Frame{c.stack}), nil)
		if tested != c.want || tests.Benchmarks != c.benchmarks || c.function != "" && !tests.Functions[c.function] || c.function == "" && len(tests.Functions) > 0 {
			t.Errorf("%s: %q, %+v", c.stack[0].Func, tested, tests)
		}
	}
}
