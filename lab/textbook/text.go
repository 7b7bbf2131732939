package textbook

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/reference/sim"
)

// text is the page.
func text(all []outcome) string {
	var b strings.Builder
	b.WriteString(`# The textbook, executed

For those who want to know what each mechanism of Go's scheduler is for: the programs that go badly without it, run on
the model in [reference/sim](../../reference/sim), each with the mechanism off and on. 4 Ps unless said otherwise; everything
else is as in Go 1.26. This page and its pictures are made by

    scripts/lab textbook

and a test fails if they are not what the model gives. The times are those of the model with its default costs: ` + "`DefaultCosts`" + ` in
[policy.go](../../reference/sim/policy.go), whose comment says how they were measured.
`)
	for _, o := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", o.title, o.about)
		fmt.Fprintf(&b, "* %s: %s.\n* %s: %s.\n\n", upper(o.off.name), o.off.says(o.without.result), upper(o.on.name), o.on.says(o.with.result))
		fmt.Fprintf(&b, "![%s, without and with](textbook/%s.svg)\n", o.title, o.id)
	}
	b.WriteString("\n## Policies\n\n| name | what it is |\n|---|---|\n")
	for _, n := range sim.PolicyNames() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", n, sim.About(n))
	}
	b.WriteString(leftOut)
	return b.String()
}

const leftOut = `
## What the model leaves out

* The machine: each P's thread has a core of its own. There are no caches, no NUMA, no other processes, no CPU quota.
* Races within an operation. An operation on a queue happens at one instant, and threads see each other's at once; only
  ` + "`sched.lock`" + ` makes one wait for the other. A goroutine that two Ps would race for goes to the one that comes first.
* Unsafe points: a goroutine that is asked to yield does so after a constant time.
* The goroutine that stops the world or starts a cycle of the garbage collector: both come from outside and use no P. Mark
  assists and sweeping are part of the goroutines' own work.
* The runtime's own goroutines (finalizers, cleanups, scavenger, the tracer) and the tracer's generation switches.
* Changes of GOMAXPROCS, coroutine switches, synctest, cgo callbacks, signals.
* Locks with spinning and starvation mode: goroutines wait for each other only through channels.
* Platforms other than Linux: the poller's grain is 1 ms, and short sleeps last as long as Linux makes them.
* ` + "`beam`" + ` has no migration between queues but stealing, and no priorities; ` + "`go1.0`" + ` has today's way to wake threads.
`

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
