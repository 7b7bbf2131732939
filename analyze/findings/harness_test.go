package findings_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/funcname"
)

// TestPart is for stacks as Go 1.22 to 1.27 write them, the innermost frame first.
func TestPart(t *testing.T) {
	const (
		tRunner  = "testing.tRunner (testing/testing.go:2036)"
		launch   = "testing.(*B).launch (testing/benchmark.go:357)"
		runN     = "testing.(*B).runN (testing/benchmark.go:220)"
		test     = "example.org/shop.TestPay (example.org/shop/pay_test.go:12)"
		pay      = "example.org/shop.(*Till).Pay (example.org/shop/pay.go:7)"
		mRun     = "testing.(*M).Run (testing/testing.go:2400)"
		testMain = "main.main (_testmain.go:90)"
	)
	suiteRun := []string{
		"github.com/stretchr/testify/suite.failOnPanic (github.com/stretchr/testify@v1.9.0/suite/suite.go:89)",
		"github.com/stretchr/testify/suite.Run.func1 (github.com/stretchr/testify@v1.9.0/suite/suite.go:202)", tRunner,
	}
	method := append([]string{"example.org/shop.(*PaySuite).TestPay (example.org/shop/suite_test.go:5)", "reflect.Value.call (reflect/value.go:581)"}, suiteRun[1:]...)
	for _, c := range []struct {
		name   string
		tested string
		stack  []string
		want   findings.Part
	}{
		{"no frames", "example.org/shop", nil, findings.Product},
		{"T.Run", "example.org/shop", []string{"runtime.chanrecv1 (runtime/chan.go:509)", "testing.(*T).Run (testing/testing.go:2101)", test, tRunner}, findings.Harness},
		{"T.Parallel", "example.org/shop", []string{"runtime.chanrecv1 (runtime/chan.go:509)", "testing.(*testState).waitParallel (testing/testing.go:2221)", "testing.(*T).Parallel (testing/testing.go:1816)", test, tRunner}, findings.Harness},
		{"T.Parallel, Go 1.23", "example.org/shop", []string{"testing.(*testContext).waitParallel (testing/testing.go:1901)", "testing.(*T).Parallel (testing/testing.go:1543)", test, tRunner}, findings.Harness},
		{"a trial begins", "example.org/shop", []string{"runtime.GC (runtime/mgc.go:555)", "testing.(*B).runN (testing/benchmark.go:207)", launch}, findings.Harness},
		{"StopTimer", "example.org/shop", []string{"runtime.ReadMemStats (runtime/mstats.go:358)", "testing.(*B).StopTimer (testing/benchmark.go:154)", "example.org/shop.BenchmarkPay (example.org/shop/pay_test.go:30)", runN, launch}, findings.Harness},
		{"AllocsPerRun", "example.org/shop", []string{"runtime.GOMAXPROCS (runtime/debug.go:60)", "testing.AllocsPerRun (testing/allocs.go:21)", test, tRunner}, findings.Harness},
		{"-cpu", "example.org/shop", []string{"runtime.GOMAXPROCS (runtime/debug.go:60)", "testing.(*B).doBench (testing/benchmark.go:300)", testMain, "runtime.main (runtime/proc.go:285)"}, findings.Harness},
		{"M.Run in TestMain", "example.org/shop", []string{"runtime.chanrecv1 (runtime/chan.go:509)", mRun, "example.org/shop.TestMain (example.org/shop/main_test.go:9)", testMain}, findings.Harness},
		{"TestMain", "example.org/shop", []string{"time.Sleep (runtime/time.go:300)", "example.org/shop.TestMain (example.org/shop/main_test.go:9)", testMain}, findings.TestCode},
		{"go test's main", "example.org/shop", []string{"os.Exit (os/proc.go:62)", testMain, "runtime.main (runtime/proc.go:285)"}, findings.Harness},
		{"a test", "example.org/shop", []string{"runtime.Gosched (runtime/proc.go:391)", test, tRunner}, findings.TestCode},
		{"a test's goroutine", "example.org/shop", []string{"sync.(*Mutex).Lock (sync/mutex.go:46)", "example.org/shop_test.TestPay.func1 (example.org/shop/pay_test.go:14)"}, findings.TestCode},
		{"product code in a test", "example.org/shop", []string{"runtime.Gosched (runtime/proc.go:391)", pay, test, tRunner}, findings.Product},
		{"product code in what AllocsPerRun calls", "example.org/shop", []string{pay, "example.org/shop.TestPay.func1 (example.org/shop/pay_test.go:13)", "testing.AllocsPerRun (testing/allocs.go:30)", test, tRunner}, findings.Product},
		{"product code alone", "example.org/shop", []string{"time.Sleep (runtime/time.go:300)", pay}, findings.Product},
		{"a module that it requires", "example.org/shop", []string{"time.Sleep (runtime/time.go:300)", "github.com/a/pool.work (github.com/a/pool@v1.2.3/pool.go:8)"}, findings.Product},
		{"a module called in a test", "example.org/shop", []string{"time.Sleep (runtime/time.go:300)", "github.com/a/eventually.Do (github.com/a/eventually@v1.2.3/do.go:8)", test, tRunner}, findings.TestCode},
		{"testify's suite", "example.org/shop", suiteRun, findings.Harness},
		{"a test of testify's suite", "example.org/shop", method, findings.TestCode},
		{"product code in testify's suite", "example.org/shop", append([]string{pay}, method...), findings.Product},
		{"a test beside the product", "example.org/shop", []string{"time.Sleep (runtime/time.go:300)", "example.org/shop/shoptest.Conform.func1 (example.org/shop/shoptest/conform.go:20)", tRunner}, findings.TestCode},
		{"product code in it", "example.org/shop", []string{pay, "example.org/shop/shoptest.Conform.func1 (example.org/shop/shoptest/conform.go:20)", tRunner}, findings.Product},
		{"RunParallel", "example.org/shop", []string{"sync.(*WaitGroup).Wait (sync/waitgroup.go:206)", "testing.(*B).RunParallel (testing/benchmark.go:985)", "example.org/shop.BenchmarkPay (example.org/shop/pay_test.go:30)", runN, launch}, findings.Harness},
		{"in RunParallel", "example.org/shop", []string{pay, "example.org/shop.BenchmarkPay.func1 (example.org/shop/pay_test.go:33)", "testing.(*B).RunParallel.func1 (testing/benchmark.go:982)"}, findings.Product},
		{"a module in the module cache", "go.uber.org/zap/zapcore", []string{"go.uber.org/zap/buffer.(*Pool).Get (/go/pkg/mod/go.uber.org/zap@v1.27.0/buffer/pool.go:8)", "go.uber.org/zap/zapcore_test.TestEntry (/go/pkg/mod/go.uber.org/zap@v1.27.0/zapcore/entry_test.go:8)", tRunner}, findings.Product},
		{"beside it", "go.uber.org/zap/zapcore", []string{"go.uber.org/goleak.Find (/go/pkg/mod/go.uber.org/goleak@v1.3.0/leaks.go:8)", "go.uber.org/zap/zapcore_test.TestEntry (/go/pkg/mod/go.uber.org/zap@v1.27.0/zapcore/entry_test.go:8)", tRunner}, findings.TestCode},
		{"the standard library under test", "net", []string{"sync.(*Mutex).Lock (sync/mutex.go:46)", "net.(*sysDialer).dialParallel (net/dial.go:600)", "net.TestDialParallel (net/dial_test.go:20)", tRunner}, findings.Product},
		{"its tests", "net", []string{"time.Sleep (runtime/time.go:300)", "net.TestDialParallel.func1 (net/dial_test.go:24)"}, findings.TestCode},
		{"its tests' wait", "net", []string{"runtime.chanrecv1 (runtime/chan.go:509)", "testing.(*T).Run (testing/testing.go:2101)", "net.TestDialParallel (net/dial_test.go:20)", tRunner}, findings.Harness},
		{"package testing under test", "testing", []string{"testing.(*T).Run (testing/testing.go:2101)", "testing_test.TestRun (testing/run_test.go:20)", tRunner}, findings.Product},
		{"a mock", "example.org/shop", []string{"time.Sleep (runtime/time.go:300)", "example.org/shop/bank.(*MockBank).Serve (example.org/shop/bank/mock.go:7)"}, findings.TestCode},
		{"a generated mock", "example.org/shop", []string{"example.org/shop/bank.(*MockBank).Ask (example.org/shop/bank/bank_mock.go:7)"}, findings.TestCode},
		{"a package of mocks", "example.org/shop", []string{"example.org/shop/mocks.(*Bank).Ask (example.org/shop/mocks/bank.go:7)"}, findings.TestCode},
		{"what only begins so", "example.org/shop", []string{"example.org/shop.mockery (example.org/shop/mockery.go:7)"}, findings.Product},
		{"a mock without a test", "", []string{"main.(*MockBank).Serve (main/mock.go:7)"}, findings.Product},
		{"no test", "", []string{"runtime.Gosched (runtime/proc.go:391)", "main.spin (main.go:3)", "main.main (main.go:4)"}, findings.Product},
		{"a program that calls testing.Benchmark", "", []string{"runtime.GC (runtime/mgc.go:555)", runN, "testing.(*B).run1.func1 (testing/benchmark.go:245)"}, findings.Harness},
	} {
		f := &findings.Facts{Tested: c.tested, Stack: func(int32) []string { return c.stack }}
		if got := f.Part(1); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestOwnOfTested is for what a stack holds of the owner's, where a package is under test.
func TestOwnOfTested(t *testing.T) {
	for _, c := range []struct {
		tested string
		stack  []string
		want   string
	}{
		{"net", []string{"internal/poll.(*FD).Read (internal/poll/fd_unix.go:165)", "net.(*conn).Read (net/net.go:9)", "net.TestRead (net/net_test.go:20)"}, "net.(*conn).Read"},
		{"net", []string{"internal/poll.(*FD).Read (internal/poll/fd_unix.go:165)", "net.(*conn).Read (net/net.go:9)", "example.org/x.f (x.go:20)"}, "net.(*conn).Read"},
		{"example.org/shop", []string{"github.com/a/pool.work (pool/pool.go:8)", "example.org/shop.Pay (shop/pay.go:9)"}, "github.com/a/pool.work"},
		{"example.org/shop", []string{"github.com/a/pool.work (/go/pkg/mod/github.com/a/pool@v1.2.3/pool.go:8)", "example.org/shop.Pay (shop/pay.go:9)"}, "example.org/shop.Pay"},
		{"github.com/BurntSushi/toml", []string{"github.com/BurntSushi/toml/internal.Parse (/go/pkg/mod/github.com/!burnt!sushi/toml@v1.4.0/internal/parse.go:8)", "golang.org/x/sync/errgroup.(*Group).Go.func1 (/go/pkg/mod/golang.org/x/sync@v0.8.0/errgroup/errgroup.go:78)"}, "github.com/BurntSushi/toml/internal.Parse"},
	} {
		f := &findings.Facts{Tested: c.tested, Stack: func(int32) []string { return c.stack }}
		if got := f.ProgramsOwn(1); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.stack[0], got, c.want)
		}
	}
}

// TestActorPart is for actors, whose class may be all that is known of them.
func TestActorPart(t *testing.T) {
	const (
		pay = "example.org/shop.(*Till).Pay (example.org/shop/pay.go:7)"
		run = "testing.(*T).Run (testing/testing.go:2101)"
	)
	for _, c := range []struct {
		role, class string
		stack       []string
		want        findings.Part
	}{
		{findings.Cause, "testing.(*B).launch", nil, findings.Harness},
		{findings.Cause, "testing.tRunner", nil, findings.Harness},
		{findings.Cause, "testing.tRunner", []string{pay}, findings.Product},
		{findings.Cause, funcname.NotShown + funcname.StartedBy + "testing.tRunner", []string{"runtime.gopark (runtime/proc.go:460)"}, findings.Harness},
		{findings.Cause, "main.main", nil, findings.Harness},
		{findings.Cause, "example.org/shop.TestPay" + funcname.StartedBy + "testing.tRunner", nil, findings.TestCode},
		{findings.Cause, "example.org/shop.TestPay.func1", nil, findings.TestCode},
		{findings.Cause, "example.org/shop.TestPay.func1 (go wrapper 1)", nil, findings.TestCode},
		{findings.Cause, "example.org/shop.(*Till).work", nil, findings.Product},
		{findings.Victim, "example.org/shop.TestPay.func1", []string{pay}, findings.TestCode},
		{findings.Victim, "example.org/shop.TestPay.func1", []string{run}, findings.Harness},
		{findings.Victim, "example.org/shop.(*Till).work", []string{"testing.(*common).Log (testing/testing.go:1040)"}, findings.Product},
	} {
		f := &findings.Facts{Tested: "example.org/shop", Tests: findings.Tests{Functions: map[string]bool{"example.org/shop.TestPay.func1": true}}}
		if got := f.ActorPart(&findings.Actor{Role: c.role, Class: c.class, Stack: c.stack}); got != c.want {
			t.Errorf("%s %s %v: %d, want %d", c.role, c.class, c.stack, got, c.want)
		}
	}
}

// TestTests is for findings in a tested program.
func TestTests(t *testing.T) {
	const (
		work  = "example.org/shop.(*Till).work (example.org/shop/till.go:7)"
		test  = "example.org/shop.TestPay (example.org/shop/pay_test.go:12)"
		bench = "testing.(*B).RunParallel.func1 (testing/benchmark.go:982)"
	)
	cause := func(stack ...string) findings.Actor {
		return findings.Actor{Role: findings.Cause, Class: "example.org/shop.(*Till).work", Stack: stack}
	}
	inTest := cause(work, test)
	inTest.Class = "example.org/shop.TestPay" + funcname.StartedBy + "testing.tRunner"
	victim := findings.Actor{Role: findings.Victim, Class: "example.org/shop.(*Till).work"}
	waits := findings.Actor{Role: findings.Victim, Class: "testing.tRunner"}
	for _, c := range []struct {
		name     string
		headline findings.Text
		kind     findings.Kind
		actors   []findings.Actor
		want     findings.Severity // "" for none
		left     int
	}{
		{"nobody", nil, findings.KindCause, nil, findings.Critical, 0},
		{"product code", nil, findings.KindCause, []findings.Actor{cause(work), victim}, findings.Critical, 2},
		{"product code in a test", nil, findings.KindCause, []findings.Actor{cause(work, test)}, findings.Critical, 1},
		{"a test", nil, findings.KindCause, []findings.Actor{cause(test), victim}, findings.Note, 2},
		{"a test, then product code", nil, findings.KindCause, []findings.Actor{cause(test), cause(work)}, findings.Note, 2},
		{"product code, then a test", nil, findings.KindCause, []findings.Actor{cause(work), cause(test)}, findings.Critical, 2},
		{"the harness", nil, findings.KindCause, []findings.Actor{cause(bench), victim}, "", 0},
		{"who waits is the harness", nil, findings.KindCause, []findings.Actor{cause(work), waits}, "", 0},
		{"and somebody else", nil, findings.KindCause, []findings.Actor{cause(work), waits, victim}, findings.Critical, 2},
		{"the machine", nil, findings.KindMachine, []findings.Actor{waits}, findings.Critical, 0},
		{"product code of a benchmark", nil, findings.KindCause, []findings.Actor{cause(work, test, bench)}, findings.Critical, 1},
		{"a test that is named", findings.Say("Runs of %s hold up short ones", findings.Name("example.org/shop.TestPay")), findings.KindCause, []findings.Actor{inTest}, findings.Note, 1},
		{"what it calls", findings.Say("%s, called by %s, yields", findings.Name("example.org/shop.(*Till).work"), findings.Name("example.org/shop.TestPay")), findings.KindCause, []findings.Actor{inTest}, findings.Critical, 1},
		{"a symptom", nil, findings.KindSymptom, []findings.Actor{victim, cause(test)}, findings.Critical, 2},
	} {
		f := &findings.Facts{Tested: "example.org/shop"}
		list := findings.OfTests(f, []findings.Finding{{Kind: c.kind, Headline: c.headline, Severity: findings.Critical, Actors: c.actors}})
		switch {
		case c.want == "":
			if len(list) > 0 || f.LeftOut.Findings != 1 {
				t.Errorf("%s: %d findings, %+v", c.name, len(list), f.LeftOut)
			}
		case len(list) != 1 || list[0].Severity != c.want || len(list[0].Actors) != c.left:
			t.Errorf("%s: %+v, want %s with %d actors", c.name, list, c.want, c.left)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"shop.TestPay, started by testing.tRunner kept a P":                  "shop.TestPay kept a P",
		"Pay (run by (unknown function), started by testing.(*B).launch) is": "Pay (run by a benchmark) is",
		"most by testing.tRunner, which ran on":                              "most by a test, which ran on",
		"shop.(*Till).Pay, started by errgroup.(*Group).Go.func1":            "shop.(*Till).Pay, started by errgroup.(*Group).Go.func1",
	} {
		if got := findings.Plain(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
