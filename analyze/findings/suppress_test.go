package findings_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// of is a finding about a class.
func of(id, class string, cost int64) findings.Finding {
	return findings.Finding{ID: id, Severity: findings.Note, CostNs: cost, Actors: []findings.Actor{{Role: findings.Victim, Class: class}}}
}

func TestSubject(t *testing.T) {
	actor := func(role, class string) findings.Actor { return findings.Actor{Role: role, Class: class} }
	for _, c := range []struct {
		name   string
		actors []findings.Actor
		want   string
	}{
		{"nobody", nil, ""},
		{"a P", []findings.Actor{actor(findings.Victim, "")}, ""},
		{"the victim", []findings.Actor{actor(findings.Cause, "a"), actor(findings.Victim, "b"), actor(findings.Victim, "c")}, "b"},
		{"the cause", []findings.Actor{actor(findings.Victim, ""), actor(findings.Cause, "a")}, "a"},
	} {
		f := findings.Finding{Actors: c.actors}
		if got, _ := f.Subject(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCovers(t *testing.T) {
	s := findings.Suppression{Finding: "convoy", Class: "main.(*pool).work*"}
	for _, c := range []struct {
		id, class string
		want      bool
	}{
		{"convoy", "main.(*pool).worker", true},
		{"convoy", "main.(*pool).work", true},
		{"convoy", "main.other", false},
		{"convoy", "", false},
		{"lock-convoy", "main.(*pool).worker", false},
	} {
		if got := s.Covers(c.id, c.class); got != c.want {
			t.Errorf("%s of %s: %v", c.id, c.class, got)
		}
	}
	if s.Class = "*"; !s.Covers("convoy", "") {
		t.Error("* does not cover a finding about nobody")
	}
}

func TestExpired(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for until, want := range map[string]bool{"": false, "2027-02-28": true, "2027-03-01": false, "2027-03-02": false, "2026-12-31": true, "9999-12-31": false} {
		if s := (findings.Suppression{Until: until}); s.Expired(now) != want {
			t.Errorf("%q: %v", until, s.Expired(now))
		}
	}
}

func TestMergeSuppressed(t *testing.T) {
	s := func(f findings.Finding) findings.Suppressed { return findings.Suppressed{Finding: f} }
	worse := of("serialization", "main.a", 1)
	worse.Severity = findings.Warning
	got := findings.MergeSuppressed([]findings.Suppressed{
		s(of("convoy", "main.a", 5)), s(of("convoy", "main.b", 7)), s(of("convoy", "main.a", 9)), s(worse), s(of("starvation", "main.a", 9)),
	})
	want := []findings.Suppressed{s(worse), s(of("convoy", "main.a", 9)), s(of("starvation", "main.a", 9)), s(of("convoy", "main.b", 7))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
