package lockconvoy

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	n.what = which(f.Frames(n.sites[0].stack))
	slow := (&findings.Actor{Stack: f.Frames(n.chief.slow.Stack)}).AtInnermost()
	if in := slow.Short(); in != n.chief.function && slow.Through(n.chief.function) {
		n.slowIn = in
		n.slowOurs = slow.CalledBy() == ""
	}
	c := &n.chief
	x.Headline = n.headline()
	x.Title = n.title(w.t.WaitNs)
	x.Measured("waits in such lines", findings.Count(n.waits), findings.Time(w.t.WaitNs).With(" each"))
	x.Measured("all waits there, shorter ones too, summed", findings.Time(n.waited))
	x.Measured("most of them in one row, until nobody waited", findings.Count(n.worst.longest), findings.Count(w.t.Row).With(", or one of %s", quantity.Duration(w.t.LongNs)))
	x.Measured("time with such a line", findings.Share(n.share).With(" of the duration").Of(n.lock.longest))
	x.Measured("in line for so long, on average", findings.Number(n.line).Of(n.cost))
	x.Measured("hand-overs of starvation mode (goyield)", findings.Count(n.handoffs))
	if c.function != "" {
		x.MeasuredOf(findings.Say("of this waiting, the lock was held by %s%s", c.function, findings.At(" (unlocked at %s)", c.place)), findings.PartOf(c.held, n.held).Of(c.held))
		x.Measured("held at a time, at most", findings.Time(c.longest.Ns))
	}
	x.Measured("of the time that the lock was held, its holder ran", findings.PartOf(n.ran, n.held).Of(n.ran))
	if n.blocked > 0 {
		reason, _ := n.reasons.Most()
		x.Measured("of it, its holder was blocked, mostly for: "+reason.String(), findings.PartOf(n.blocked, n.held).Of(n.blocked))
	}
	if n.late > 0 {
		x.Measured("of it, its holder slept though its timer may have been due", findings.PartOf(n.late, n.held).Of(n.late))
	}
	if n.calls > 0 {
		x.Measured("of it, its holder was in a system call", findings.PartOf(n.calls, n.held).Of(n.calls))
	}
	if n.queued > n.held/20 {
		x.Measured("of it, its holder was ready to run, and waited for a P", findings.PartOf(n.queued, n.held).Of(n.queued))
	}
	n.advise(x)
}

// headline is the short title.
func (n *evidence) headline() findings.Text {
	c := &n.chief
	if c.function == "" {
		return findings.Say("Goroutines wait for the lock in %s: %s in all", n.name, quantity.Duration(n.waited))
	}
	if user := c.CalledBy(); user != "" {
		return findings.Say("%s, called by %s, holds %s%s: others wait %s in all", c.function, user, n.what, n.meanwhile(nil), quantity.Duration(n.cost))
	}
	return findings.Say("%s holds %s for up to %s%s; others wait for it: %s in all", c.function, n.what, quantity.Duration(c.longest.Ns), n.meanwhile(n.in()), quantity.Duration(n.cost))
}

// in is where the holder was held up.
func (n *evidence) in() findings.Text {
	if n.slowIn == "" {
		return nil
	}
	return findings.Say(" in %s", n.slowIn)
}

// meanwhile is what who holds the lock mostly did, and where, unless that was to run.
func (n *evidence) meanwhile(in findings.Text) findings.Text {
	c := &n.chief
	switch {
	case 2*c.blocked > c.held && n.keeper != nil:
		return findings.Say(", asleep until %s has left a P", n.keeper.Work())
	case 2*c.blocked > c.held:
		reason, _ := c.reasons.Most()
		return findings.Say(", blocked %s%s meanwhile", findings.BlockedFor(reason), in)
	case 2*c.calls > c.held:
		return findings.Say(", in system calls%s meanwhile", in)
	case 2*c.yielded > c.held:
		return findings.Say(", without a P after runtime.Gosched for most of it")
	case 2*c.queued > c.held:
		return findings.Say(", without a P for most of it")
	}
	return nil
}

// title names who holds the lock, and who waits for it.
func (n *evidence) title(waitNs int64) findings.Text {
	c := &n.chief
	waits := fmt.Sprintf("%s of %s or more", quantity.Plural(n.waits, "wait", "waits"), quantity.Duration(waitNs))
	if c.function == "" {
		return findings.Say("Goroutines stood in line for the lock in %s: %s, up to %s until nobody waited", n.name, waits, quantity.Count(n.worst.longest))
	}
	return findings.Say("%s holds %s for up to %s at a time%s: %s by %s, %s in all",
		c.Doer(), n.what, quantity.Duration(c.longest.Ns), n.meanwhile(n.in()), waits, n.whose(), quantity.Duration(n.cost))
}

// whose reports in which functions others are in line: the first two but the holder's own, as
// some of them where there are more.
func (n *evidence) whose() findings.Text {
	var in []findings.Name
	for i, name := range n.waiters {
		if i < 2 && name != n.chief.function {
			in = append(in, name)
		}
	}
	switch {
	case len(in) == 0:
		return findings.Say("others in line for it")
	case len(in) < len(n.waiters):
		return findings.Say("others in line for it, some in %s", findings.List(in, " and "))
	}
	return findings.Say("others in line in %s", findings.List(in, " and "))
}

func (n *evidence) advise(x *findings.Finding) {
	in := n.chief.function
	if in == "" {
		in = n.name
	}
	switch {
	case n.keeper != nil:
		x.Advise("Begin with %s: split its long runs, or keep a P free of them. A P looks at its timers only when a goroutine leaves it, and %s sleeps with the lock held until then. Better still, do not sleep there with the lock held.", n.keeper.Work(), in)
	case 2*(n.blocked+n.calls) > n.held:
		x.Advise("Do not hold the lock across something slow, as %s does: fetch or wait first, then lock and store. Let others wait for one entry, not for all; sync once for all that wait to be written.", in)
	case 2*n.yielded > n.held:
		x.Advise("Do not call runtime.Gosched in %s while the lock is held: others run, or wait for the lock, until its turn comes again. Unlock before it yields, and lock again afterwards; or do a part of it at a time.", in)
	case 2*n.queued > n.held:
		x.Advise("Whoever holds the lock, most of all %s, mostly waits for a P, preempted in the middle, or just handed the lock: have fewer goroutines compute at the same time (about as many as there are Ps), and take the lock less often.", in)
	case 2*n.ran < n.held:
		x.Advise("Hold the lock in %s for less: whoever has it ran for %s of that time only, so see whether it sleeps, waits, reads or writes meanwhile, and do that before locking or after unlocking.", in, quantity.Percent(float64(n.ran)/float64(max(1, n.held))))
	default:
		x.Advise("Make the critical section in %s shorter: compute before locking, or copy what is needed and compute after unlocking; hold the lock only to read or store the result.", in)
	}
	if user := n.chief.CalledBy(); user != "" {
		x.AdviseOnly("See what makes %s come to %s so often: do several things in one call, keep what it returns, or leave it to one goroutine in the background; or see whether a setting lets it hold the lock for less.", user, in)
		if 2*(n.blocked+n.calls) > n.held {
			x.AdviseOnly("%s holds its lock across something slow: see whether a setting or a newer version does that without the lock; or have %s call it from one goroutine in the background.", in, user)
		}
		if n.slowOurs {
			x.AdviseOnly("%s calls %s while it holds the lock: make %s faster, or hand what takes long there to another goroutine. %s", in, n.slowIn, n.slowIn, x.Advice[0])
		}
		x.Advise("Or use several of what the lock protects, one for each part of the work. More Ps do not help: one goroutine at a time gets through.")
		return
	}
	x.Advise("Or divide what the lock protects (one lock for each part), or publish a copy that readers need no lock for (atomic.Pointer). More Ps do not help: one goroutine at a time gets through.")
}
