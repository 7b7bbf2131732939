package accuracy

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/replay"
)

// bandWaited is how far a prediction of the time waited may be off.
const bandWaited = 0.25

// recorded is the name of a recording that -record makes: program, GOMAXPROCS, run.
var recorded = regexp.MustCompile(`^(.+)-p([12])-(\d+)\.trace\.gz$`)

// whatIfPrediction is what the recordings of a program with one GOMAXPROCS say about another.
type whatIfPrediction struct {
	name             string
	from, to         int
	measured, waited int64   // medians, as recorded with the other
	makespans, waits []int64 // predicted, by recording
	spreadM, spreadW [2]int64
	runs             []int
	untrusted        []string // by recording: in the one or the other
	makespan         []string // in the makespan
}

// predictWhatIfs has each recording of a program predict its makespan and time waited with the
// other GOMAXPROCS, which is held against the median of those recordings.
func predictWhatIfs(rows []row) []whatIfPrediction {
	type key struct {
		name  string
		procs int
	}
	all := map[key][]*replay.Result{}
	runs := map[key][]int{}
	var names []string
	for _, r := range rows {
		m := recorded.FindStringSubmatch(r.name + ".trace.gz")
		procs, _ := strconv.Atoi(m[2])
		k := key{m[1], procs}
		run, _ := strconv.Atoi(m[3])
		all[k], runs[k] = append(all[k], r.res), append(runs[k], run)
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	var out []whatIfPrediction
	for _, name := range names {
		for procs := 1; procs <= 2; procs++ {
			from, to := all[key{name, procs}], all[key{name, 3 - procs}]
			if len(from) == 0 || len(to) == 0 {
				continue
			}
			f := whatIfPrediction{name: name, from: procs, to: 3 - procs, runs: runs[key{name, procs}]}
			var ms, ws []int64
			for _, r := range to {
				ms, ws = append(ms, r.Observed.MakespanNs), append(ws, r.Observed.Waits.TotalNs)
			}
			slices.Sort(ms)
			slices.Sort(ws)
			f.measured, f.waited = ms[(len(ms)-1)/2], ws[(len(ws)-1)/2]
			f.spreadM, f.spreadW = [2]int64{ms[0], ms[len(ms)-1]}, [2]int64{ws[0], ws[len(ws)-1]}
			for _, r := range from {
				x := r.Simulated.WhatIf[0]
				f.makespans, f.waits = append(f.makespans, x.Simulated.MakespanNs), append(f.waits, x.Simulated.Waits.TotalNs)
				f.untrusted, f.makespan = append(f.untrusted, x.Untrusted), append(f.makespan, x.UntrustedMakespan)
			}
			out = append(out, f)
		}
	}
	return out
}

// within reports whether a number is in a band around another.
func within(x, of int64, band float64) bool {
	return math.Abs(float64(x-of)) <= band*float64(of)
}

// verdicts counts predictions by whether they are trusted, and right.
type verdicts struct{ trustedRight, trustedWrong, refusedRight, refusedWrong int }

func (v *verdicts) add(trusted, right bool) {
	switch {
	case trusted && right:
		v.trustedRight++
	case trusted:
		v.trustedWrong++
	case right:
		v.refusedRight++
	default:
		v.refusedWrong++
	}
}

// writeWhatIfs writes a row for each program and direction, and how far trust can be
// trusted.
func writeWhatIfs(w io.Writer, fs []whatIfPrediction) {
	halves := []struct {
		name           string
		makespan, both verdicts
	}{{name: "looked at"}, {name: "held out"}}
	fmt.Fprintln(w, "| program | Ps | makespan, ms | predicted, ms | waited, ms | predicted, ms | right | trusted | why not |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---|")
	ms := func(ns int64) string { return fmt.Sprintf("%.0f", float64(ns)/1e6) }
	span := func(v []int64) string { return ms(slices.Min(v)) + "–" + ms(slices.Max(v)) }
	for _, f := range fs {
		var makespan, both verdicts
		why := ""
		for i := range f.makespans {
			right := within(f.makespans[i], f.measured, bandWhatIf)
			half := &halves[min(max(f.runs[i]-tuned, 0), 1)]
			for _, v := range []*verdicts{&makespan, &half.makespan} {
				v.add(f.makespan[i] == "", right)
			}
			for _, v := range []*verdicts{&both, &half.both} {
				v.add(f.untrusted[i] == "", right && within(f.waits[i], f.waited, bandWaited))
			}
			why = cmp.Or(f.makespan[i], why)
		}
		n := len(f.makespans)
		why, _, _ = strings.Cut(why, ": ")
		why, _, _ = strings.Cut(why, ", and the makespan ")
		fmt.Fprintf(w, "| %s | %d→%d | %s (%s–%s) | %s | %s (%s–%s) | %s | %d (%d) of %d | %d (%d) | %s |\n", f.name, f.from, f.to,
			ms(f.measured), ms(f.spreadM[0]), ms(f.spreadM[1]), span(f.makespans), ms(f.waited), ms(f.spreadW[0]), ms(f.spreadW[1]), span(f.waits),
			both.trustedRight+both.refusedRight, makespan.trustedRight+makespan.refusedRight, n,
			both.trustedRight+both.trustedWrong, makespan.trustedRight+makespan.trustedWrong, why)
	}
	fmt.Fprintln(w, "\n| recordings | of | trusted, right | trusted, wrong | refused, right | refused, wrong |\n|---|---|---:|---:|---:|---:|")
	for _, h := range halves {
		for _, x := range []struct {
			of string
			verdicts
		}{{"makespan", h.makespan}, {"makespan and waiting", h.both}} {
			fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d |\n", h.name, x.of, x.trustedRight, x.trustedWrong, x.refusedRight, x.refusedWrong)
		}
	}
}
