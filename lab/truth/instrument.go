package truth

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/build"
	"go/format"
	"path/filepath"
	"text/template"
)

// Kind specifies what a Record states.
type Kind uint16

// The kinds of records. "Took" kinds say that the goroutine will run next on
// the recording thread (or, after LockedHand, on the thread it is locked to).
// "Put" kinds are written before the goroutine becomes visible in the queue and
// took kinds after it has left it, so the records of one goroutine are always
// in the true order.
const (
	_              Kind = iota
	Start               // the trace's start event; Flag 1: by a coroutine switch; Arg: schedtick
	TookRunnext         // from the own runnext
	TookLocal           // from the head of the own ring
	TookGlobal          // the first of a global batch; Arg: its size
	TookTick            // from the head of the global queue by the 61st tick
	TookSteal           // the last of a stolen batch; Arg: victim and, shifted by 32, the size
	TookNetpoll         // the poller's first, without any queue
	TookGCWorker        // a mark worker
	TookReader          // the trace reader
	TookExit            // came back from a system call and found a P
	TookDirect          // any other way without a queue
	LockedHand          // the chosen goroutine's own thread gets the P
	PutRunnext          // into P's runnext
	PutLocal            // to the tail of P's ring
	PutStolen           // to the tail of the thief's ring, with the rest of a stolen batch
	PutGlobal           // to the tail of the global queue; Flag 1: to its head
	Grab                // left the ring of P for a thief; Flag 1: left runnext
	Overflow            // half of P's ring and G went to the global queue; Arg: how many
	Drain               // P's whole local queue goes to the global queue
	ProcSteal           // the trace's steal event for P; Flag: one of the by… values
	Handoff             // handoffp begins for P
	HandoffStart        // handoffp starts a thread for P
	CallSite            // the recording thread is about to call something; Arg: one of the site… values
	ForEachP            // the runtime is going to visit every P; Arg: one of the why… values
	PreemptRequest      // G on P is asked to stop
	Gosched             // G goes back to a queue; Flag: 1 preempted, 2 a stop of the world waits, 4 P has a safe point function to run
	Goyield             // G yields to its own ring
	TracePreempt        // the trace's preempted event for G
	kindCount
)

var kindNames = [kindCount]string{
	"", "Start", "TookRunnext", "TookLocal", "TookGlobal", "TookTick", "TookSteal", "TookNetpoll", "TookGCWorker",
	"TookReader", "TookExit", "TookDirect", "LockedHand", "PutRunnext", "PutLocal", "PutStolen", "PutGlobal", "Grab",
	"Overflow", "Drain", "ProcSteal", "Handoff", "HandoffStart", "CallSite", "ForEachP", "PreemptRequest",
	"Gosched", "Goyield", "TracePreempt",
}

func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint16(k))
}

// Who took a P out of a system call.
const (
	bySysmon = iota
	byExit   // another thread that returned from a system call
	bySTW
	byForEachP
)

// Why every P is visited.
const (
	whyOther = iota
	whyGeneration
	whyGC
)

// Callers of preemptone, preemptall and handoffp.
const (
	siteRetake = iota + 1
	sitePreemptAll
	siteEnlist
	siteSTW
	siteForEachP
	siteBlock // entersyscallblock
	siteLocked
	siteExit // a locked thread or one that leaves for good
	siteFreeze
)

const (
	envFile        = "GMPSCOPE_TRUTH"
	envRecords     = "GMPSCOPE_TRUTH_RECORDS"
	defaultRecords = 6 << 20
	magic          = "gmpscope truth1\n"
	headerSize     = 64
	recordSize     = 48
)

//go:embed hook/hook.go.tmpl
var hookTemplate string

// instrument finds all anchors in the runtime of t and asks for the insertions.
// It returns the hook file that has to join the package. If an anchor is
// missing, nothing is usable and the error names all that are.
func instrument(t *tree) (hookFile []byte, err error) {
	note := func(kind Kind, flag int, g, p, arg string) string {
		return fmt.Sprintf("gmpscopeNote(gmpscope%s, %d, %s, %s, %s)", kind, flag, g, p, arg)
	}
	took := func(kind Kind, g, n string) string {
		return fmt.Sprintf("gmpscopeTook(gmpscope%s, %s, %s)", kind, g, n)
	}
	site := func(code int) string {
		return note(CallSite, 0, "nil", "nil", fmt.Sprint(code))
	}

	// The trace's own events: the join of trace and truth rests on these.
	t.fn("traceLocker.GoStart").entry("gmpscopeStarted(getg().m.curg, 0)")
	if f := t.lookup("traceLocker.GoSwitch"); f != nil { // Go 1.23 and later
		f.entry(fmt.Sprintf("gmpscopeStarted(%s, 1)", f.param(0)))
	}
	t.fn("traceLocker.GoPreempt").entry(note(TracePreempt, 0, "getg().m.curg", "getg().m.p.ptr()", "0"))
	f := t.fn("traceLocker.ProcSteal")
	f.entry(fmt.Sprintf("gmpscopeStole(%s)", f.param(0)))

	// Local queues.
	f = t.fn("runqput")
	f.inside("if next", 1, conditionIs("next"), note(PutRunnext, 0, "gp", "pp", "0"))
	f.inside("if there is room", 1, bodyCalls("atomic.StoreRel(&pp.runqtail"), note(PutLocal, 0, "gp", "pp", "0"))
	f = t.fn("runqputslow")
	f.before("return true", 1, returns("true"), note(Overflow, 0, "gp", "pp", "uint64(n)+1"))
	f = t.fn("runqputbatch")
	f.after("gp := q.pop()", 1, assigns(0, "gp", "q.pop"), note(PutLocal, 1, "gp", "pp", "0"))
	f = t.fn("runqget")
	f.before("return next.ptr(), true", 1, returns("next.ptr()", "true"), note(TookRunnext, 0, "next.ptr()", "pp", "0"))
	f.before("return gp, false", 1, returns("gp", "false"), note(TookLocal, 0, "gp", "pp", "0"))
	f = t.fn("runqdrain")
	f.entry(note(Drain, 0, "nil", f.param(0), "0"))
	f = t.fn("runqgrab")
	f.before("return 1", 1, returns("1"), note(Grab, 1, "next.ptr()", "pp", "0"))
	f.before("return n", 1, returns("n"), fmt.Sprintf("gmpscopeGrabbed(pp, %s, %s, n)", f.param(1), f.param(2)))
	f = t.fn("runqsteal")
	f.after("gp := the last one", 1, func(s stmt) bool { return definesFromRing(s, "gp") },
		note(TookSteal, 0, "gp", "pp", "uint64(p2.id)|uint64(n+1)<<32"))
	f.before("store of the thief's tail", 1, calls("atomic.StoreRel(&pp.runqtail"), "gmpscopeSurplus(pp, t, n)")

	// The global queue. sched.lock is held in all of these.
	f = t.fn("globrunqput")
	f.entry(note(PutGlobal, 0, f.param(0), "getg().m.p.ptr()", "0"))
	f = t.fn("globrunqputhead")
	f.entry(note(PutGlobal, 1, f.param(0), "getg().m.p.ptr()", "0"))
	f = t.fn("globrunqputbatch")
	f.entry(fmt.Sprintf("gmpscopePutBatch(%s)", f.param(0)))
	if f := t.lookup("globrunqgetbatch"); f != nil { // Go 1.25 and later
		f.after("gp = sched.runq.pop()", 1, assigns(0, "gp", "sched.runq.pop"), took(TookGlobal, "gp", "uint64(n)"))
		t.fn("globrunqget").before("return sched.runq.pop()", 1, returns("sched.runq.pop()"),
			took(TookTick, "sched.runq.head.ptr()", "1"))
	} else {
		f := t.fn("globrunqget")
		f.after("gp := sched.runq.pop()", 1, assigns(0, "gp", "sched.runq.pop"), fmt.Sprintf(
			"if %s == 1 { %s } else { %s }", f.param(1), took(TookTick, "gp", "1"), took(TookGlobal, "gp", "uint64(n)")))
	}

	// Choices that involve no queue.
	f = t.fn("findRunnable")
	f.after("trace reader", 1, assigns(0, "gp", "traceReader"), took(TookReader, "gp", "1"))
	f.after("mark worker", 1, assigns(0, "gp", "gcController.findRunnableGCWorker"), took(TookGCWorker, "gp", "1"))
	f.after("idle mark worker", 1, assigns(0, "gp", "node.gp.ptr"), took(TookGCWorker, "gp", "1"))
	f.after("idle mark worker without a P", 1, assigns(1, "gp", "checkIdleGCNoP"), took(TookGCWorker, "gp", "1"))
	f.after("poller", 2, assigns(0, "gp", "list.pop"), took(TookNetpoll, "gp", "1"))
	t.fn("exitsyscall").before("trace.GoStart()", 0, calls("trace.GoStart"), took(TookExit, "getg().m.curg", "1"))
	f = t.lookup("exitsyscallNoP") // Go 1.26 and later
	if f == nil {
		f = t.fn("exitsyscall0")
	}
	f.before("acquirep(pp)", 1, calls("acquirep"), took(TookExit, "gp", "1"))
	t.fn("park_m").before("execute(gp, true)", 1, calls("execute"), took(TookDirect, "gp", "1"))
	t.fn("procresize").before("trace.GoStart()", 1, calls("trace.GoStart"), took(TookDirect, "getg().m.curg", "1"))
	f = t.fn("startlockedm")
	f.entry(note(LockedHand, 0, f.param(0), "getg().m.p.ptr()", "0"))

	// Ps that change hands.
	f = t.fn("retake")
	f.before("handoffp", 1, calls("handoffp"), site(siteRetake))
	f.before("preemptone", 1, calls("preemptone"), site(siteRetake))
	f = t.fn("handoffp")
	f.entry(note(Handoff, 0, "nil", f.param(0), "0"))
	f.before("startm", 0, calls("startm"), note(HandoffStart, 0, "nil", f.param(0), "0"))
	t.fn("stoplockedm").before("handoffp", 1, calls("handoffp"), site(siteLocked))
	t.fn("mexit").before("handoffp", 2, calls("handoffp"), site(siteExit))
	f = t.lookup("entersyscallblock_handoff") // before Go 1.26
	if f == nil {
		f = t.fn("entersyscallblock")
	}
	f.before("handoffp", 1, calls("handoffp"), site(siteBlock))

	// Preemption: who asks, and what comes of it.
	t.fn("preemptall").before("preemptone", 1, calls("preemptone"), site(sitePreemptAll))
	t.fn("gcControllerState.enlistWorker").before("preemptone", 1, calls("preemptone"), site(siteEnlist))
	t.fn("stopTheWorldWithSema").before("preemptall", 2, calls("preemptall"), site(siteSTW))
	t.fn("freezetheworld").before("preemptall", 2, calls("preemptall"), site(siteFreeze))
	f = t.fn("forEachPInternal")
	f.before("preemptall", 2, calls("preemptall"), site(siteForEachP))
	f.before("handoffp", 1, calls("handoffp"), site(siteForEachP))
	f = t.fn("forEachP")
	f.entry(fmt.Sprintf("gmpscopeSafePoint(%s)", f.param(0)))
	t.fn("preemptone").before("gp.preempt = true", 1, sets("gp.preempt", "true"), note(PreemptRequest, 0, "gp", "pp", "0"))
	f = t.fn("goschedImpl")
	f.after("dropg", 1, calls("dropg"), fmt.Sprintf("gmpscopeStopping(%s, %s)", f.param(0), f.param(1)))
	f = t.fn("goyield_m")
	f.after("dropg", 1, calls("dropg"), note(Goyield, 0, "gp", "pp", "0"))

	// Life of the buffer.
	f = t.fn("main")
	f.entry("gmpscopeInit()")
	f.before("exit(0)", 1, calls("exit"), "gmpscopeDump()")
	t.fn("os_beforeExit").entry("gmpscopeDump()")

	if err := t.err(); err != nil {
		return nil, fmt.Errorf("this runtime is not as expected: %w", err)
	}

	type kind struct {
		Name  string
		Value int
	}
	data := map[string]any{
		"GlobalLen": "sched.runqsize", "EnvFile": envFile, "EnvRecords": envRecords,
		"DefaultRecords": defaultRecords, "Magic": `gmpscope truth1\n`,
		"BySysmon": bySysmon, "ByExit": byExit, "BySTW": bySTW, "ByForEachP": byForEachP,
		"WhyOther": whyOther, "WhyGeneration": whyGeneration, "WhyGC": whyGC,
	}
	if data["Atomic"] = t.importEndingIn("runtime", "/atomic"); data["Atomic"] == "" {
		return nil, errors.New("this runtime does not import its atomic package")
	}
	if t.hasField("gQueue", "size") { // Go 1.25 and later
		data["GlobalLen"] = "sched.runq.size"
	}
	var kinds []kind
	for k := Kind(1); k < kindCount; k++ {
		kinds = append(kinds, kind{k.String(), int(k)})
	}
	data["Kinds"] = kinds
	var b bytes.Buffer
	if err := template.Must(template.New("hook").Parse(hookTemplate)).Execute(&b, data); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// Instrument returns the overlay for the runtime of goroot: what each replaced
// or added file shall contain. goVersion is like "1.26.8".
func Instrument(goroot, goVersion string) (map[string][]byte, error) {
	dir := filepath.Join(goroot, "src", "runtime")
	ctx, err := contextFor(goVersion)
	if err != nil {
		return nil, err
	}
	t, err := parseTree(dir, ctx)
	if err != nil {
		return nil, err
	}
	hook, err := instrument(t)
	if err != nil {
		return nil, fmt.Errorf("go%s: %w", goVersion, err)
	}
	out := t.patched()
	out[filepath.Join(dir, "zgmpscope.go")] = hook
	return out, nil
}

// contextFor returns the build constraints that hold in a default linux/amd64
// build by the given release.
func contextFor(goVersion string) (*build.Context, error) {
	var minor int
	if _, err := fmt.Sscanf(goVersion, "1.%d", &minor); err != nil {
		return nil, fmt.Errorf("go version %q: %w", goVersion, err)
	}
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.Compiler = "linux", "amd64", "gc"
	ctx.ReleaseTags = nil
	for i := 1; i <= minor; i++ {
		ctx.ReleaseTags = append(ctx.ReleaseTags, fmt.Sprintf("go1.%d", i))
	}
	// The only experiment that chooses between files we patch: the old tracer
	// lives beside the new one in Go 1.22.
	ctx.ToolTags = []string{"goexperiment.exectracer2"}
	return &ctx, nil
}
