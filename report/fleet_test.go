package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// FilledFleet is a report about many traces in which every key has something.
func FilledFleet() *jsondoc.Fleet {
	var f jsondoc.Fleet
	fill(reflect.ValueOf(&f).Elem())
	f.Schema = Schema
	for _, causes := range [][]waits.CauseTime{f.Causes, f.Groups[0].Causes, f.Classes[0].Causes, f.Versions[0].Causes, f.Times[0].Causes} {
		causes[0].Cause = waits.CauseQueueing
	}
	return &f
}

// TestFleetText has more of everything than is shown, with control characters in the names.
func TestFleetText(t *testing.T) {
	f := FilledFleet()
	f.Outliers[0].Kind, f.Outliers[0].Cause, f.OutlierN = "group", "queueing", 40
	f.Groups[0].Labels = []jsondoc.FleetLabel{{Name: "service", Value: "pay\x1b[31m\u202e"}, {Name: "gomaxprocs", Value: "4"}}
	f.Outliers[0].Labels = f.Groups[0].Labels
	f.Work[0].Name, f.Work[0].Parts[0].What, f.Work[0].Parts[0].Where, f.Work[0].Parts[0].Ns, f.Work[0].TotalNs = "main.report\x1b", "lock", "main.(*cache).get", 3, 4
	for range 99 {
		f.Groups, f.Outliers, f.Findings = append(f.Groups, f.Groups[0]), append(f.Outliers, f.Outliers[0]), append(f.Findings, f.Findings[0])
		f.Work, f.Classes, f.Versions, f.Unread = append(f.Work, f.Work[0]), append(f.Classes, f.Classes[0]), append(f.Versions, f.Versions[0]), append(f.Unread, f.Unread[0])
	}
	var b bytes.Buffer
	if err := WriteFleetText(&b, f, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"WHO WAITS MORE THAN ITS PEERS", "and 28 more.", "and 76 more groups.", "and 84 more kinds.", "75 % waiting for a lock in main.(*cache).get", "and 88 more classes.", "and 76 rows before.", "and 88 more inputs.", "  new     x x of x: x, 7 traces", "GOMAXPROCS 4", "gmpscope report x"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in the text:\n%s", want, b.String())
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("a name drives the terminal")
	}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "%!") {
			t.Error(line)
		}
	}
	if err := WriteFleetText(&b, &jsondoc.Fleet{}, TextOptions{}); err != nil {
		t.Error(err)
	}
	if WriteFleetText(&b, nil, TextOptions{}) == nil || WriteFleetJSON(&b, nil) == nil {
		t.Error("no error without a report")
	}
}
