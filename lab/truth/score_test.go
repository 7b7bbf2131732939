package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lines(t *testing.T, text string) []Line {
	t.Helper()
	l, err := ReadLines(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLinesSurviveJSON(t *testing.T) {
	yes := true
	want := []Line{newLine("start"), newLine("handoff"), newLine("preempt")}
	want[0].T, want[0].G, want[0].P, want[0].Src, want[0].Victim, want[0].Batch, want[0].Locked = 5, 1, 0, "steal", 0, 3, true
	want[1].P, want[1].Started, want[1].By = 2, &yes, "sysmon"
	want[2].Why, want[2].Also = "stw", []string{"slice", "gc"}
	var b bytes.Buffer
	if err := WriteLines(&b, want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, lines(t, b.String())); d != "" {
		t.Error(d)
	}
	if _, err := ReadLines(strings.NewReader("{}\n\nno\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error is %v", err)
	}
}

func TestRecordsAreRead(t *testing.T) {
	file := func(n, dropped, size uint64, recs ...Kind) []byte {
		b := make([]byte, headerSize)
		copy(b, magic)
		for i, v := range []uint64{n, dropped, size} {
			binary.LittleEndian.PutUint64(b[16+8*i:], v)
		}
		for _, k := range recs {
			r := make([]byte, recordSize)
			binary.LittleEndian.PutUint64(r, 77)
			binary.LittleEndian.PutUint64(r[8:], 9)
			p := int32(-1)
			binary.LittleEndian.PutUint32(r[32:], uint32(p))
			binary.LittleEndian.PutUint16(r[44:], uint16(k))
			b = append(b, r...)
		}
		return b
	}
	got, err := ReadRecords(bytes.NewReader(file(3, 0, recordSize, Start, 0, PutLocal)))
	want := []Record{{When: 77, G: 9, P: -1, Kind: Start}, {When: 77, G: 9, P: -1, Kind: PutLocal}}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := ReadRecords(bytes.NewReader(file(1, 5, recordSize, Start))); !errors.Is(err, ErrIncomplete) {
		t.Errorf("lost records: %v", err)
	}
	if _, err := ReadRecords(bytes.NewReader(file(2, 0, recordSize, Start))); err == nil {
		t.Error("a cut file is accepted")
	}
	if _, err := ReadRecords(bytes.NewReader(file(0, 0, 40))); err == nil {
		t.Error("another record size is accepted")
	}
	if _, err := ReadRecords(strings.NewReader(strings.Repeat("x", headerSize))); err == nil {
		t.Error("another magic is accepted")
	}
}

func TestCompare(t *testing.T) {
	truth := lines(t, `
{"t":10,"k":"start","g":1,"p":0,"src":"runnext","ll":1,"gl":0}
{"t":20,"k":"start","g":2,"p":1,"src":"steal","victim":0,"batch":2,"ll":1,"gl":5}
{"t":30,"k":"start","g":3,"p":1,"src":"local","ll":0,"gl":5}
{"t":40,"k":"start","g":4,"p":1,"src":"global-tick","ll":0,"gl":4}
{"t":41,"k":"start","g":5,"p":1,"src":"steal-runnext","victim":0,"batch":1,"ll":0,"gl":4}
{"t":50,"k":"ready","g":1,"p":0,"to":"local"}
{"t":50,"k":"preempt","g":1,"p":0,"why":"stw","also":["slice"]}
{"t":60,"k":"retake","p":0,"by":"sysmon"}
{"t":61,"k":"retake","p":1,"by":"stw"}
{"t":62,"k":"handoff","p":0,"started":false}
{"t":9000000,"k":"overflow","p":0,"batch":129}
`)
	dump := lines(t, `
{"t":10,"k":"start","g":1,"p":0,"src":"runnext","ll":1,"gl":0,"basis":"inferred:runnext"}
{"t":20,"k":"start","g":2,"p":1,"src":"steal","victim":3,"batch":2,"ll":2,"gl":7,"basis":"inferred:steal"}
{"t":30,"k":"start","g":3,"p":1,"src":"steal","victim":0,"batch":1,"ll":0,"gl":5,"basis":"ambiguous"}
{"t":40,"k":"start","g":4,"p":1,"src":"global","batch":1,"ll":0,"gl":4,"basis":"assumed"}
{"t":41,"k":"start","g":5,"p":1,"src":"direct","ll":0,"gl":4}
{"t":50,"k":"ready","g":1,"p":0,"to":"global"}
{"t":50,"k":"preempt","g":1,"p":0,"why":"slice"}
{"t":63,"k":"retake","p":0}
{"t":64,"k":"retake","p":5}
{"t":9000001,"k":"overflow","p":0,"batch":129}
`)
	s, starts := Compare(truth, dump)
	for _, c := range []struct {
		name string
		got  Rate
		want Rate
	}{
		{"exact", s.Exact, Rate{2, 5}},
		{"coarse", s.Coarse, Rate{3, 5}},
		{"steal recall", s.StealRecall, Rate{1, 2}},
		{"steal precision", s.StealPrecision, Rate{1, 2}},
		{"victim", s.Victim, Rate{0, 1}},
		{"batch", s.Batch, Rate{1, 1}},
		{"ll", s.LL, Rate{4, 5}},
		{"ll near", s.LLNear, Rate{5, 5}},
		{"gl", s.GL, Rate{4, 5}},
		{"gl near", s.GLNear, Rate{4, 5}},
		{"ready", s.Ready, Rate{0, 1}},
		{"preempt", s.Preempt, Rate{1, 1}}, // the other cause was open too
		{"retake recall", *s.Found["retake"], Rate{1, 1}},
		{"retake precision", *s.Real["retake"], Rate{1, 2}},
		{"overflow recall", *s.Found["overflow"], Rate{1, 1}},
		{"certain", s.Certain(), Rate{2, 2}},
		{"uncertain", s.Uncertain(), Rate{0, 3}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	if s.Found["handoff"] != nil {
		t.Error("a handoff that started nothing counts")
	}
	if s.Sources[Pair{"local", "steal"}] != 1 {
		t.Errorf("confusion: %v", s.Sources)
	}

	sum := NewScore()
	sum.Add(s)
	sum.Add(s)
	if sum.Exact != (Rate{4, 10}) || sum.Sources[Pair{"local", "steal"}] != 2 || *sum.Found["retake"] != (Rate{2, 2}) {
		t.Error("sums are wrong")
	}

	var b strings.Builder
	Mismatches{Show: 1, Skip: 1, Context: 4}.Print(&b, truth, dump, starts)
	if out := b.String(); !strings.Contains(out, "G3 starts on P1") || strings.Contains(out, "G4 starts") {
		t.Errorf("mismatches:\n%s", out)
	}
	b.Reset()
	Mismatches{Show: 9, Only: "global-tick>", Context: 4}.Print(&b, truth, dump, starts)
	if out := b.String(); !strings.Contains(out, "G4 starts on P1") || strings.Contains(out, "G3 starts") {
		t.Errorf("mismatches:\n%s", out)
	}
}

func TestWhatMustBeFoundIsFoundFirst(t *testing.T) {
	truth := lines(t, `
{"t":100,"k":"handoff","p":0,"started":false}
{"t":900,"k":"handoff","p":0,"started":true}
`)
	dump := lines(t, `{"t":880,"k":"handoff","p":0}`)
	s, _ := Compare(truth, dump)
	if *s.Found["handoff"] != (Rate{1, 1}) || *s.Real["handoff"] != (Rate{1, 1}) {
		t.Errorf("found %+v, real %+v", *s.Found["handoff"], *s.Real["handoff"])
	}
}

func TestMissingAndExtraLinesAreFoundByTime(t *testing.T) {
	truth := lines(t, `
{"t":10,"k":"start","g":1,"p":0,"src":"runnext"}
{"t":20,"k":"start","g":1,"p":0,"src":"local"}
{"t":30,"k":"start","g":1,"p":0,"src":"global"}
`)
	for name, c := range map[string]struct {
		dump           string
		exact          Rate
		missing, extra int
	}{
		"one missing": {`
{"t":10,"k":"start","g":1,"p":0,"src":"runnext"}
{"t":30,"k":"start","g":1,"p":0,"src":"global"}`, Rate{2, 3}, 1, 0},
		"first missing": {`
{"t":20,"k":"start","g":1,"p":0,"src":"local"}
{"t":30,"k":"start","g":1,"p":0,"src":"global"}`, Rate{2, 3}, 1, 0},
		"one too many": {`
{"t":10,"k":"start","g":1,"p":0,"src":"runnext"}
{"t":15,"k":"start","g":1,"p":0,"src":"direct"}
{"t":20,"k":"start","g":1,"p":0,"src":"local"}
{"t":30,"k":"start","g":1,"p":0,"src":"global"}`, Rate{3, 3}, 0, 1},
		"nothing": {``, Rate{0, 3}, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := Compare(truth, lines(t, c.dump))
			if s.Exact != c.exact || s.Missing != c.missing || s.Extra != c.extra {
				t.Errorf("exact %+v, %d missing, %d extra", s.Exact, s.Missing, s.Extra)
			}
		})
	}
}

func TestRateNeverRoundsUpToAll(t *testing.T) {
	for want, r := range map[string]Rate{"–": {}, "100.00": {5, 5}, "99.99": {999_999, 1_000_000}, "50.00": {1, 2}} {
		if got := r.String(); got != want {
			t.Errorf("%+v: %s, want %s", r, got, want)
		}
	}
}

func TestDecoderAgreesWithJSON(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"t":1}`, ` { "t" : -5 , "k" : "start" } `, `{"g":3,"p":0,"m":77,"n":2,"src":"steal","victim":1,"batch":9,"ll":1,"gl":0,"tick":61}`,
		`{"locked":true,"started":false,"to":"local","why":"stw","by":"sysmon","basis":"inferred:x"}`,
		`{"also":["a","b"],"k":"preempt"}`, `{"k":"a\u0041b"}`, `{"other":{"t":5},"t":6}`, `{"other":1.5,"t":6}`, `{"other":null}`,
	} {
		var want Line
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got, err := newDecoder().line([]byte(text))
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v %s", text, err, cmp.Diff(want, got))
		}
	}
	for _, text := range []string{``, `{`, `{"t"}`, `{"t":}`, `{"t":1,}`, `{"t":1} x`, `{"t":"x"`, `[1]`, `{"t":tru}`} {
		if l, err := newDecoder().line([]byte(text)); err == nil {
			t.Errorf("%q is accepted as %+v", text, l)
		}
	}
}
