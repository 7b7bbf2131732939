package work

import (
	"slices"
	"testing"
)

// A test that another runs is a part of it, unless that did not end.
func TestTestsOfUnits(t *testing.T) {
	var u Units
	for name, count := range map[string]int64{"a.TestOne": 1, "a.TestOne.func1": 3, "a.TestOne.func1.2": 1, "a.TestTwo": 0, "a.TestTwo.func1": 2, "a.TestTwo.func1.1": 1, "testing.tRunner": 9} {
		u.Kinds = append(u.Kinds, UnitKind{Name: name, How: Test.String(), Count: count})
	}
	var got []string
	for _, k := range u.Tests() {
		got = append(got, k.Name)
	}
	slices.Sort(got)
	if want := []string{"a.TestOne", "a.TestTwo.func1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
