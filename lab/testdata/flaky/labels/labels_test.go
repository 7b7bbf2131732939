package labels

import "testing"

func TestLine(t *testing.T) {
	s := Merge(Set{"job": "api", "zone": "b"}, Set{"zone": `"c"`})
	got := Line("requests_total", s, 12)
	if want := `requests_total{job="api",zone="\"c\""} 12`; got != want {
		t.Fatalf("Line:\n got %s\nwant %s", got, want)
	}
}
