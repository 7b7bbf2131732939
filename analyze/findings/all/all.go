// Package all lists the detectors, in the order of the catalogue. A test keeps
// it complete: each directory beside it that holds a doc.md is a detector.
package all

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	gcassistwait "github.com/gmpscope/gmpscope/analyze/findings/gc-assist-wait"
	gcdisplacement "github.com/gmpscope/gmpscope/analyze/findings/gc-displacement"
	globalqueueneglect "github.com/gmpscope/gmpscope/analyze/findings/global-queue-neglect"
	goroutinechurn "github.com/gmpscope/gmpscope/analyze/findings/goroutine-churn"
	handofflatency "github.com/gmpscope/gmpscope/analyze/findings/handoff-latency"
	latepreemption "github.com/gmpscope/gmpscope/analyze/findings/late-preemption"
	localityloss "github.com/gmpscope/gmpscope/analyze/findings/locality-loss"
	lockconvoy "github.com/gmpscope/gmpscope/analyze/findings/lock-convoy"
	lockedthreadpenalty "github.com/gmpscope/gmpscope/analyze/findings/locked-thread-penalty"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	ospreemption "github.com/gmpscope/gmpscope/analyze/findings/os-preemption"
	pthrash "github.com/gmpscope/gmpscope/analyze/findings/p-thrash"
	preemptionthrash "github.com/gmpscope/gmpscope/analyze/findings/preemption-thrash"
	queueimbalance "github.com/gmpscope/gmpscope/analyze/findings/queue-imbalance"
	retakestall "github.com/gmpscope/gmpscope/analyze/findings/retake-stall"
	runnableburst "github.com/gmpscope/gmpscope/analyze/findings/runnable-burst"
	runnextmonopoly "github.com/gmpscope/gmpscope/analyze/findings/runnext-monopoly"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	slowrestart "github.com/gmpscope/gmpscope/analyze/findings/slow-restart"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	stealstorm "github.com/gmpscope/gmpscope/analyze/findings/steal-storm"
	stwstoplatency "github.com/gmpscope/gmpscope/analyze/findings/stw-stop-latency"
	syscallretakestorm "github.com/gmpscope/gmpscope/analyze/findings/syscall-retake-storm"
	thunderingherd "github.com/gmpscope/gmpscope/analyze/findings/thundering-herd"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	tracequality "github.com/gmpscope/gmpscope/analyze/findings/trace-quality"
	workconservation "github.com/gmpscope/gmpscope/analyze/findings/work-conservation"
	yieldspinning "github.com/gmpscope/gmpscope/analyze/findings/yield-spinning"
)

// Thresholds are those of all detectors, in JSON under their IDs.
type Thresholds struct {
	TraceQuality        tracequality.Thresholds        `json:"trace-quality"`
	Starvation          starvation.Thresholds          `json:"starvation"`
	WorkConservation    workconservation.Thresholds    `json:"work-conservation"`
	Convoy              convoy.Thresholds              `json:"convoy"`
	RunnextMonopoly     runnextmonopoly.Thresholds     `json:"runnext-monopoly"`
	GlobalQueueNeglect  globalqueueneglect.Thresholds  `json:"global-queue-neglect"`
	LatePreemption      latepreemption.Thresholds      `json:"late-preemption"`
	PreemptionThrash    preemptionthrash.Thresholds    `json:"preemption-thrash"`
	SyscallRetakeStorm  syscallretakestorm.Thresholds  `json:"syscall-retake-storm"`
	RetakeStall         retakestall.Thresholds         `json:"retake-stall"`
	HandoffLatency      handofflatency.Thresholds      `json:"handoff-latency"`
	PThrash             pthrash.Thresholds             `json:"p-thrash"`
	StealStorm          stealstorm.Thresholds          `json:"steal-storm"`
	ThunderingHerd      thunderingherd.Thresholds      `json:"thundering-herd"`
	RunnableBurst       runnableburst.Thresholds       `json:"runnable-burst"`
	GoroutineChurn      goroutinechurn.Thresholds      `json:"goroutine-churn"`
	CPUThrottling       cputhrottling.Thresholds       `json:"cpu-throttling"`
	OSPreemption        ospreemption.Thresholds        `json:"os-preemption"`
	GCAssistWait        gcassistwait.Thresholds        `json:"gc-assist-wait"`
	GCDisplacement      gcdisplacement.Thresholds      `json:"gc-displacement"`
	STWStopLatency      stwstoplatency.Thresholds      `json:"stw-stop-latency"`
	SlowRestart         slowrestart.Thresholds         `json:"slow-restart"`
	NetpollDelay        netpolldelay.Thresholds        `json:"netpoll-delay"`
	TimerLateness       timerlateness.Thresholds       `json:"timer-lateness"`
	LockedThreadPenalty lockedthreadpenalty.Thresholds `json:"locked-thread-penalty"`
	LockConvoy          lockconvoy.Thresholds          `json:"lock-convoy"`
	Serialization       serialization.Thresholds       `json:"serialization"`
	QueueImbalance      queueimbalance.Thresholds      `json:"queue-imbalance"`
	YieldSpinning       yieldspinning.Thresholds       `json:"yield-spinning"`
	LocalityLoss        localityloss.Thresholds        `json:"locality-loss"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{
		TraceQuality:        tracequality.Default(),
		Starvation:          starvation.Default(),
		WorkConservation:    workconservation.Default(),
		Convoy:              convoy.Default(),
		RunnextMonopoly:     runnextmonopoly.Default(),
		GlobalQueueNeglect:  globalqueueneglect.Default(),
		LatePreemption:      latepreemption.Default(),
		PreemptionThrash:    preemptionthrash.Default(),
		SyscallRetakeStorm:  syscallretakestorm.Default(),
		RetakeStall:         retakestall.Default(),
		HandoffLatency:      handofflatency.Default(),
		PThrash:             pthrash.Default(),
		StealStorm:          stealstorm.Default(),
		ThunderingHerd:      thunderingherd.Default(),
		RunnableBurst:       runnableburst.Default(),
		GoroutineChurn:      goroutinechurn.Default(),
		CPUThrottling:       cputhrottling.Default(),
		OSPreemption:        ospreemption.Default(),
		GCAssistWait:        gcassistwait.Default(),
		GCDisplacement:      gcdisplacement.Default(),
		STWStopLatency:      stwstoplatency.Default(),
		SlowRestart:         slowrestart.Default(),
		NetpollDelay:        netpolldelay.Default(),
		TimerLateness:       timerlateness.Default(),
		LockedThreadPenalty: lockedthreadpenalty.Default(),
		LockConvoy:          lockconvoy.Default(),
		Serialization:       serialization.Default(),
		QueueImbalance:      queueimbalance.Default(),
		YieldSpinning:       yieldspinning.Default(),
		LocalityLoss:        localityloss.Default(),
	}
}

// Detectors returns all detectors with thresholds t, in their order.
func Detectors(t Thresholds) []findings.Detector {
	return []findings.Detector{
		tracequality.New(t.TraceQuality),
		starvation.New(t.Starvation),
		workconservation.New(t.WorkConservation),
		convoy.New(t.Convoy),
		runnextmonopoly.New(t.RunnextMonopoly),
		globalqueueneglect.New(t.GlobalQueueNeglect),
		latepreemption.New(t.LatePreemption),
		preemptionthrash.New(t.PreemptionThrash),
		syscallretakestorm.New(t.SyscallRetakeStorm),
		retakestall.New(t.RetakeStall),
		handofflatency.New(t.HandoffLatency),
		pthrash.New(t.PThrash),
		stealstorm.New(t.StealStorm),
		thunderingherd.New(t.ThunderingHerd),
		runnableburst.New(t.RunnableBurst),
		goroutinechurn.New(t.GoroutineChurn),
		cputhrottling.New(t.CPUThrottling),
		ospreemption.New(t.OSPreemption),
		gcassistwait.New(t.GCAssistWait),
		gcdisplacement.New(t.GCDisplacement),
		stwstoplatency.New(t.STWStopLatency),
		slowrestart.New(t.SlowRestart),
		netpolldelay.New(t.NetpollDelay),
		timerlateness.New(t.TimerLateness),
		lockedthreadpenalty.New(t.LockedThreadPenalty),
		lockconvoy.New(t.LockConvoy),
		serialization.New(t.Serialization),
		queueimbalance.New(t.QueueImbalance),
		yieldspinning.New(t.YieldSpinning),
		localityloss.New(t.LocalityLoss),
	}
}

// Docs returns the explanations of all detectors, in their order.
func Docs() []findings.Doc {
	var out []findings.Doc
	for _, d := range Detectors(Default()) {
		out = append(out, findings.Doc{ID: d.ID, Title: d.Title, Text: d.Doc})
	}
	return out
}
