package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/fleet"
)

// Exports are held against those who are to read them: go tool pprof in package
// export/pprof, the others here.

// exportedTraces are traces of different kinds.
var exportedTraces = []string{"mutex-go1.26-p4", "gosched-go1.26-p2", "real/flightrec-memberlist-go1.26-p4", "real/v1-context-go1.21"}

// command runs gmpscope, which has to succeed, and returns what it prints.
func command(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, nil, &out, &errs); code != exitOK {
		t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
	}
	return out.Bytes()
}

func recorded(name string) string { return filepath.Join(traces, filepath.FromSlash(name)+".trace.gz") }

// absent skips a test whose consumer is not there. Where CI installs it that is a failure.
func absent(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// duckDB is the version of @duckdb/node-api that scripts/install-consumers installs.
const duckDB = "1.5.6-r.1"

// queries is what is asked of DuckDB: its sums of the tables in a folder.
const queries = `
import { DuckDBInstance } from '@duckdb/node-api';
const folder = process.env.TABLES;
const db = await (await DuckDBInstance.create(':memory:')).connect();
const ask = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const from = (name) => "'" + folder + '/' + name + ".parquet'";
const causes = ['world_stopped', 'p_unavailable', 'garbage_collector', 'p_waking_up', 'idle_p_available', 'queueing', 'overtaken', 'tracer', 'scheduler_overhead'];
const sums = causes.map((c) => 'sum(' + c + '_ns)::bigint as ' + c).join(', ') + ', sum(wait_ns)::bigint as total, count(*) as waits';
console.log(JSON.stringify({
	all: await ask('select ' + sums + ' from ' + from('waits')),
	user: await ask('select ' + sums + ' from ' + from('waits') + " where kind = 'user'"),
	classes: await ask('select class_id, ' + sums + ' from ' + from('waits') + ' group by class_id'),
	starts: await ask('select count(*) as starts from ' + from('starts') + ' where not first'),
	runs: await ask('select c.class_id, c.running_ns, sum(r.run_ns)::bigint as run_ns from ' + from('classes') + ' c join ' + from('runs') + ' r using (class_id) group by all'),
	findings: await ask('select id from ' + from('findings')),
	units: await ask('select kind, count(*) as n, sum(latency_ns)::bigint as ns from ' + from('units') + ' group by kind'),
	paths: await ask('select kind, sum(ns)::bigint as ns from ' + from('paths') + ' group by kind'),
	about: await ask('select decode(value) as about from parquet_kv_metadata(' + from('waits') + ")"),
}));
`

// TestDuckDB has DuckDB sum up the tables, and holds that against the JSON.
func TestDuckDB(t *testing.T) {
	modules := duckDBFolder(t)
	for _, name := range exportedTraces {
		folder := filepath.Join(t.TempDir(), "tables")
		command(t, "export", "parquet", recorded(name), "-o", folder)
		var doc struct {
			Waits struct {
				causeSums
				User causeSums
			}
			Classes []struct {
				ID    int32
				Waits causeSums
			}
			Reconstruction struct{ Starts int64 }
			Findings       []struct{ ID string }
			Work           struct {
				Kinds []struct {
					Name    string
					Count   int64
					TotalNs int64 `json:"total_ns"`
				}
			}
		}
		if err := json.Unmarshal(command(t, "analyze", recorded(name), "--format", "json"), &doc); err != nil {
			t.Fatal(err)
		}
		var got struct{ All, User, Classes, Starts, Runs, Findings, Units, Paths, About []map[string]any }
		askDuckDB(t, modules, queries, folder, &got)
		if d := cmp.Diff(doc.Waits.row(), got.All[0]); d != "" {
			t.Errorf("%s, all (-JSON +DuckDB):\n%s", name, d)
		}
		if d := cmp.Diff(doc.Waits.User.row(), got.User[0]); d != "" {
			t.Errorf("%s, user (-JSON +DuckDB):\n%s", name, d)
		}
		want, classes := map[string]any{}, map[string]any{}
		for _, c := range doc.Classes {
			if c.Waits.Count > 0 {
				want[fmt.Sprint(c.ID)] = c.Waits.row()
			}
		}
		for _, row := range got.Classes {
			id := fmt.Sprint(row["class_id"])
			delete(row, "class_id")
			classes[id] = row
		}
		if d := cmp.Diff(want, classes); d != "" {
			t.Errorf("%s, by class (-JSON +DuckDB):\n%s", name, d)
		}
		units, rows := map[string]int64{}, map[string]int64{}
		for _, k := range doc.Work.Kinds {
			if k.Count > 0 {
				units[k.Name+" n"] += k.Count
				units[k.Name+" ns"] += 2 * k.TotalNs // once in each table
			}
		}
		for _, row := range append(got.Units, got.Paths...) {
			for _, column := range []string{"n", "ns"} {
				if v, ok := row[column]; ok {
					n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					rows[fmt.Sprint(row["kind"], " ", column)] += n
				}
			}
		}
		if d := cmp.Diff(units, rows); d != "" {
			t.Errorf("%s, units of work (-JSON +DuckDB):\n%s", name, d)
		}
		for _, row := range got.Runs {
			if row["running_ns"] != row["run_ns"] {
				t.Errorf("%s: %v", name, row)
			}
		}
		if starts := fmt.Sprint(got.Starts[0]["starts"]); starts != fmt.Sprint(doc.Reconstruction.Starts) || len(got.Findings) != len(doc.Findings) || len(got.Runs) == 0 {
			t.Errorf("%s: %s starts, want %d; %d findings, want %d", name, starts, doc.Reconstruction.Starts, len(got.Findings), len(doc.Findings))
		}
		if about := fmt.Sprint(got.About); !strings.Contains(about, "trace: "+filepath.Base(name)) {
			t.Errorf("%s: the metadata is %s", name, about)
		}
	}
}

// askDuckDB runs a script in the folder in which node finds DuckDB, and decodes what it
// prints. The script finds the tables in TABLES.
func askDuckDB(t *testing.T, modules, script, tables string, into any) {
	t.Helper()
	cmd := exec.Command("node", "--input-type=module", "-e", script)
	cmd.Dir, cmd.Env = modules, append(os.Environ(), "TABLES="+tables)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatal(err)
	}
}

// fleetQueries is what is asked of DuckDB about a table of traces: its sums.
const fleetQueries = `
import { DuckDBInstance } from '@duckdb/node-api';
const db = await (await DuckDBInstance.create(':memory:')).connect();
const ask = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const from = " from '" + process.env.TABLES + "'";
const causes = ['world_stopped', 'p_unavailable', 'garbage_collector', 'p_waking_up', 'idle_p_available', 'queueing', 'overtaken', 'tracer', 'scheduler_overhead'];
const sums = causes.map((c) => 'sum(' + c + '_ns)::bigint as ' + c).join(', ') + ', sum(waiting_ns)::bigint as total, sum(waits)::bigint as waits';
console.log(JSON.stringify({
	groups: await ask("select labels['service'] || ' ' || labels['version'] as name, " + sums + ', count(*) as traces, sum(running_ns)::bigint as running, max(max_ns) as max' + from + ' group by 1'),
	classes: await ask('select c.name as name, sum(c.waiting_ns)::bigint as waiting from (select unnest(classes) as c' + from + ') group by 1'),
	findings: await ask('select f.id as name, sum(f.cost_ns)::bigint as cost from (select unnest(findings) as f' + from + ') group by 1'),
	days: await ask("select count(distinct key) as traces" + from + " where start >= timestamp '2026-01-01' and gomaxprocs = 1"),
}));
`

// TestDuckDBFleet has DuckDB sum up a table of many traces, and holds that against the JSON.
func TestDuckDBFleet(t *testing.T) {
	modules := duckDBFolder(t)
	table := filepath.Join(t.TempDir(), "fleet.parquet")
	args := []string{"fleet", "-q", filepath.Join("..", "..", "fleet", "testdata"), "--label-paths", "{service}-{version}-*.trace.gz", "--group", "service,version"}
	command(t, append(args, "-o", table)...)
	var doc struct {
		Traces int
		Groups []struct {
			fleetSums
			Labels []struct{ Value string }
		}
		Classes []struct {
			Name      string
			WaitingNs int64 `json:"waiting_ns"`
		}
	}
	if err := json.Unmarshal(command(t, append(args, "--format", "json")...), &doc); err != nil {
		t.Fatal(err)
	}
	var got struct{ Groups, Classes, Findings, Days []map[string]any }
	askDuckDB(t, modules, fleetQueries, table, &got)
	want := map[string]any{}
	for _, g := range doc.Groups {
		row := g.row()
		row["traces"], row["running"], row["max"] = fmt.Sprint(g.Traces), fmt.Sprint(g.RunningNs), fmt.Sprint(g.MaxNs)
		want[g.Labels[0].Value+" "+g.Labels[1].Value] = row
	}
	if d := cmp.Diff(want, byName(got.Groups)); d != "" || len(want) != 6 {
		t.Errorf("groups (-JSON +DuckDB):\n%s", d)
	}
	want = map[string]any{}
	for _, c := range doc.Classes {
		want[c.Name] = map[string]any{"waiting": fmt.Sprint(c.WaitingNs)}
	}
	if d := cmp.Diff(want, byName(got.Classes)); d != "" {
		t.Errorf("classes (-JSON +DuckDB):\n%s", d)
	}
	want = map[string]any{}
	for id, ns := range findingCosts(t, command(t, append(args, "--format", "sum")...)) {
		want[id] = map[string]any{"cost": fmt.Sprint(ns)}
	}
	if d := cmp.Diff(want, byName(got.Findings)); d != "" || len(want) == 0 {
		t.Errorf("findings (-summaries +DuckDB):\n%s", d)
	}
	if n := fmt.Sprint(got.Days[0]["traces"]); n != fmt.Sprint(doc.Traces) {
		t.Errorf("%s traces of 2026 with one P, want %d", n, doc.Traces)
	}
}

// fleetSums are the sums of a group in the JSON about many traces.
type fleetSums struct {
	Traces, Waits int64
	RunningNs     int64 `json:"running_ns"`
	WaitingNs     int64 `json:"waiting_ns"`
	MaxNs         int64 `json:"max_ns"`
	Causes        []causeSum
}

func (s *fleetSums) row() map[string]any {
	return (&causeSums{s.Waits, s.WaitingNs, s.Causes}).row()
}

// findingCosts returns what findings cost, ns, by their ID, in a file of summaries.
func findingCosts(t *testing.T, summaries []byte) map[string]int64 {
	t.Helper()
	r, err := fleet.NewReader(bytes.NewReader(summaries))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rec.Findings {
			out[f.ID] += f.CostNs
		}
	}
}

// byName returns rows of DuckDB by the column name, without it.
func byName(rows []map[string]any) map[string]any {
	out := map[string]any{}
	for _, row := range rows {
		name := fmt.Sprint(row["name"])
		delete(row, "name")
		out[name] = row
	}
	return out
}

// causeSums are the sums of waits in the JSON.
type causeSums struct {
	Count   int64
	TotalNs int64 `json:"total_ns"`
	Causes  []causeSum
}

// causeSum is what one cause owns.
type causeSum struct {
	Cause string
	Ns    int64
}

// row is what DuckDB makes of them: it writes large integers as text.
func (c *causeSums) row() map[string]any {
	out := map[string]any{"total": fmt.Sprint(c.TotalNs), "waits": fmt.Sprint(c.Count)}
	for _, x := range c.Causes {
		out[strings.NewReplacer("-", "_", "/", "_").Replace(x.Cause)] = fmt.Sprint(x.Ns)
	}
	return out
}

// duckDBFolder returns the folder in which node finds DuckDB.
func duckDBFolder(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		absent(t, "no node to run DuckDB: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		absent(t, "no cache folder: %v", err)
	}
	folder := filepath.Join(cache, "gmpscope", "duckdb-"+duckDB)
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "@duckdb", "node-api")); err != nil {
		absent(t, "no DuckDB: scripts/install-consumers installs it: %v", err)
	}
	return folder
}

// unknownField is a line of protoc about a field that the protos do not have.
var unknownField = regexp.MustCompile(`(?m)^\s*\d+(:| \{).*$`)

// TestProtoc has protoc decode a trace for Perfetto by the official protos, and holds the
// counters against dump.
func TestProtoc(t *testing.T) {
	protos := os.Getenv("GMPSCOPE_PERFETTO_PROTOS")
	if protos == "" {
		t.Skip("GMPSCOPE_PERFETTO_PROTOS names no folder with Perfetto's perfetto_trace.proto")
	}
	if _, err := exec.LookPath("protoc"); err != nil {
		absent(t, "no protoc: %v", err)
	}
	for _, name := range exportedTraces {
		file := filepath.Join(t.TempDir(), "out.perfetto")
		command(t, "export", "perfetto", recorded(name), "-o", file)
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd := exec.Command("protoc", "-I", protos, "--decode=perfetto.protos.Trace", "perfetto_trace.proto")
		cmd.Stdin, cmd.Stderr = in, os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("protoc: %v", err)
		}
		if line := unknownField.Find(text); line != nil {
			t.Errorf("%s: an unknown field: %s", name, line)
		}
		want := dumped(t, name)
		got := decodedCounters(t, text)
		delete(got, "runnable")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-dump +counters):\n%.2000s", name, d)
		}
		for _, s := range []string{`name: "findings"`, `name: "P 0"`, "type: TYPE_SLICE_BEGIN", "type: TYPE_SLICE_END"} {
			if !bytes.Contains(text, []byte(s)) {
				t.Errorf("%s: no %s", name, s)
			}
		}
	}
}

// dumped are the changes of the lengths of queues in a dump, by the names of counters.
func dumped(t *testing.T, name string) map[string][]string {
	t.Helper()
	out, last := map[string][]string{}, map[string]int64{}
	add := func(counter string, at, n int64) {
		if before, ok := last[counter]; !ok || before != n {
			last[counter] = n
			out[counter] = append(out[counter], fmt.Sprint(at, " ", n))
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(command(t, "dump", recorded(name))))
	for lines.Scan() {
		var d struct {
			T      int64
			P      int32
			LL, GL *int64
		}
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		if d.LL != nil {
			add(fmt.Sprintf("P %d run queue", d.P), d.T, *d.LL)
		}
		if d.GL != nil {
			add("global run queue", d.T, *d.GL)
		}
	}
	return out
}

// decodedCounters are the values of counters in what protoc prints.
func decodedCounters(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	out, names := map[string][]string{}, map[string]string{}
	for _, packet := range strings.Split(string(text), "\npacket {\n") {
		fields := map[string]string{}
		for line := range strings.Lines(packet) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if _, ok := fields[key]; !ok {
				fields[key] = value
			}
		}
		if strings.Contains(packet, "track_descriptor {") {
			name, err := strconv.Unquote(fields["name"])
			if err != nil {
				t.Fatalf("%s: %v", packet, err)
			}
			names[fields["uuid"]] = name
		}
		if fields["type"] == "TYPE_COUNTER" {
			name := names[fields["track_uuid"]]
			out[name] = append(out[name], fields["timestamp"]+" "+fields["counter_value"])
		}
	}
	maps.DeleteFunc(out, func(_ string, v []string) bool { return len(v) == 0 })
	return out
}
