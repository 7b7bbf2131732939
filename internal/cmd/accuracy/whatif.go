package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/gmpscope/gmpscope/replay"
)

// bandWaited is how far a prediction of the time waited may be off.
const bandWaited = 0.25

// recorded is the name of a recording that -record makes: program, GOMAXPROCS, run.
var recorded = regexp.MustCompile(`^(.+)-p([12])-(\d+)\.trace\.gz$`)

// foretold is what the recordings of a program with one GOMAXPROCS say of another.
type foretold struct {
	name             string
	from, to         int
	measured, waited int64   // medians, as recorded with the other
	makespans, waits []int64 // predicted, by recording
	spreadM, spreadW [2]int64
	untrusted        []string
}

// foretell has each recording of a program predict its makespan and time waited with the
// other GOMAXPROCS, which is held against the median of those recordings.
func foretell(rows []row) []foretold {
	type key struct {
		name  string
		procs int
	}
	all := map[key][]*replay.Result{}
	var names []string
	for _, r := range rows {
		m := recorded.FindStringSubmatch(r.name + ".trace.gz")
		procs, _ := strconv.Atoi(m[2])
		k := key{m[1], procs}
		all[k] = append(all[k], r.res)
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	var out []foretold
	for _, name := range names {
		for procs := 1; procs <= 2; procs++ {
			from, to := all[key{name, procs}], all[key{name, 3 - procs}]
			if len(from) == 0 || len(to) == 0 {
				continue
			}
			f := foretold{name: name, from: procs, to: 3 - procs}
			var ms, ws []int64
			for _, r := range to {
				ms, ws = append(ms, r.Observed.MakespanNs), append(ws, r.Observed.Waits.TotalNs)
			}
			slices.Sort(ms)
			slices.Sort(ws)
			f.measured, f.waited = ms[(len(ms)-1)/2], ws[(len(ws)-1)/2]
			f.spreadM, f.spreadW = [2]int64{ms[0], ms[len(ms)-1]}, [2]int64{ws[0], ws[len(ws)-1]}
			for _, r := range from {
				x := r.Free.WhatIf[0]
				f.makespans, f.waits = append(f.makespans, x.Simulated.MakespanNs), append(f.waits, x.Simulated.Waits.TotalNs)
				f.untrusted = append(f.untrusted, x.Untrusted)
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

// foretellings writes a row for each program and direction.
func foretellings(w io.Writer, fs []foretold) {
	var good, trusted, goodTrusted, spanOK, spanTrusted, all int
	fmt.Fprintln(w, "| program | recorded with | predicted for | makespan, ms | predicted, ms | waited, ms | predicted, ms | right | trusted | right of those | why not |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
	ms := func(ns int64) string { return fmt.Sprintf("%.0f", float64(ns)/1e6) }
	span := func(v []int64) string { return ms(slices.Min(v)) + " to " + ms(slices.Max(v)) }
	for _, f := range fs {
		ok, sure, both, why := 0, 0, 0, ""
		for i := range f.makespans {
			span := within(f.makespans[i], f.measured, bandWhatIf)
			if span {
				spanOK++
				if f.untrusted[i] == "" {
					spanTrusted++
				}
			}
			right := span && within(f.waits[i], f.waited, bandWaited)
			if right {
				ok++
			}
			if f.untrusted[i] != "" {
				why = f.untrusted[i]
				continue
			}
			sure++
			if right {
				both++
			}
		}
		n := len(f.makespans)
		good, trusted, goodTrusted, all = good+ok, trusted+sure, goodTrusted+both, all+n
		fmt.Fprintf(w, "| %s | %d | %d | %s (%s to %s) | %s | %s (%s to %s) | %s | %d of %d | %d | %d | %s |\n", f.name, f.from, f.to,
			ms(f.measured), ms(f.spreadM[0]), ms(f.spreadM[1]), span(f.makespans), ms(f.waited), ms(f.spreadW[0]), ms(f.spreadW[1]), span(f.waits), ok, n, sure, both, why)
	}
	fmt.Fprintf(w, "\n%d of %d are right in both, and %d in the makespan; %d are trusted, and %d of those are right in both, %d in the makespan.\n",
		good, all, spanOK, trusted, goodTrusted, spanTrusted)
}
