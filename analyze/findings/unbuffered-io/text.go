package unbufferedio

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(y *findings.Finding, x *site) {
	rate := quantity.Plural(int64(x.perSecond), "time", "times")
	mean := quantity.Duration(x.Ns / max(1, x.N))
	y.Headline = fmt.Sprintf("%s %s little by little, %s a second, each a system call", x.function, x.verb, rate)
	y.Title = fmt.Sprintf("%s %s little by little: %s a second, each a system call of %s (mean); they take %s of the P-time that was not idle",
		x.function, x.verb, rate, mean, quantity.Percent(x.share))
	at := ""
	if x.place != "" {
		at = " (" + x.place + ")"
	}
	y.Evidence = []findings.Evidence{
		{What: "system calls in " + x.function + at, Value: quantity.Count(x.N)},
		{What: "a second", Value: quantity.Count(int64(x.perSecond)), Limit: quantity.Count(int64(w.t.PerSecond))},
		{What: "in a run interval (mean)", Value: quantity.Number(float64(x.N) / float64(max(1, x.Runs))), Limit: quantity.Number(w.t.MinRow)},
		{What: "each took (mean)", Value: mean, Limit: quantity.Duration(x.shortNs / max(1, x.N))},
		{What: "all, of the P-time that was not idle", Value: quantity.Percent(x.share), Limit: quantity.Percent(w.t.WarningShare), Ns: x.Ns},
	}
	if x.verb == "reads" {
		y.Advice = []string{"Read through a bufio.Reader in " + x.function + ", or larger pieces at once: a system call costs as much for one byte as for thousands."}
		return
	}
	y.Advice = []string{"Write through a bufio.Writer in " + x.function + ", or put together what belongs together and write it at once: a system call costs as much for one byte as for thousands. Flush where it must be out, at the end of a request or record."}
}
