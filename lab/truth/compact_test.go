package truth

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompactTruthScoresAlike(t *testing.T) {
	all := lines(t, `
{"t":1500,"k":"ready","g":7,"p":1,"m":11,"n":0,"to":"runnext"}
{"t":2000,"k":"steal","g":7,"p":0,"src":"steal","victim":1,"batch":2}
{"t":2100,"k":"start","g":7,"p":0,"m":12,"n":0,"src":"steal","victim":1,"batch":2,"ll":1,"gl":0,"tick":9}
{"t":3999,"k":"start","g":8,"p":0,"m":12,"n":0,"src":"local","locked":true,"ll":0,"gl":3,"tick":10}
{"t":9000,"k":"preempt","g":8,"p":0,"m":12,"n":0,"why":"stw","also":["slice","gc"]}
{"t":8000,"k":"retake","p":1,"m":10,"by":"sysmon","ll":2,"gl":0}
{"t":8500,"k":"handoff","p":1,"m":10,"by":"sysmon","started":true}
{"t":8600,"k":"handoff","p":0,"m":10,"by":"sysmon","started":false}
{"t":9500,"k":"overflow","g":9,"p":0,"batch":129}`)
	want := lines(t, `
{"t":1000,"k":"ready","g":7,"to":"runnext"}
{"t":2000,"k":"start","g":7,"src":"steal","victim":1,"batch":2,"ll":1,"gl":0}
{"t":3000,"k":"start","g":8,"src":"local","locked":true,"ll":0,"gl":3}
{"t":9000,"k":"preempt","g":8,"why":"stw","also":["slice","gc"]}
{"t":8000,"k":"retake","p":1,"by":"sysmon"}
{"t":8000,"k":"handoff","p":1,"by":"sysmon","started":true}
{"t":8000,"k":"handoff","p":0,"by":"sysmon","started":false}
{"t":9000,"k":"overflow","p":0,"batch":129}`)
	var b bytes.Buffer
	if err := WriteCompact(&b, all); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCompact(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	full, _ := Compare(all, all)
	small, _ := Compare(got, all)
	if d := cmp.Diff(full, small); d != "" {
		t.Errorf("score (-full +compact):\n%s", d)
	}
	for _, n := range []int{0, 5, b.Len() - 9} {
		if _, err := ReadCompact(bytes.NewReader(b.Bytes()[:n])); err == nil {
			t.Errorf("the first %d of %d bytes were enough", n, b.Len())
		}
	}
}
