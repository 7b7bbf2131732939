package findings

import "github.com/gmpscope/gmpscope/reference"

// blockedFor are the words of package vocabulary for what goroutines are blocked for.
var blockedFor = map[reference.Reason]string{
	reference.ReasonNetwork:     "on the network",
	reference.ReasonSelect:      "in a select",
	reference.ReasonChanReceive: "receiving from a channel",
	reference.ReasonChanSend:    "sending to a channel",
	reference.ReasonSync:        "on a mutex, a wait group or their like",
	reference.ReasonCond:        "in sync.Cond.Wait",
	reference.ReasonSleep:       "in time.Sleep",
}

// BlockedFor returns, for texts, what goroutines are blocked on for a reason, in words that follow
// "blocked": "receiving from a channel".
func BlockedFor(r reference.Reason) string {
	if s := blockedFor[r]; s != "" {
		return s
	}
	return "for " + r.String()
}
