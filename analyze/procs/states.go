package procs

import "github.com/gmpscope/gmpscope/analyze/ledger"

// The states of the Ps are those of the ledger.
type (
	State  = ledger.State
	States = ledger.States
	Change = ledger.Change
)

// MaxPs is the number of Ps that are told apart.
const MaxPs = ledger.MaxPs

// The states of a P.
const (
	Idle        = ledger.Idle
	User        = ledger.User
	System      = ledger.System
	GC          = ledger.GC
	Tracer      = ledger.Tracer
	Syscall     = ledger.Syscall
	Sched       = ledger.Sched
	Stopped     = ledger.Stopped
	Unused      = ledger.Unused
	NotRecorded = ledger.NotRecorded
)
