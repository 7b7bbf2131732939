package reconstruct

import (
	"reflect"
	"strings"
	"testing"
)

// references calls f with each value in v that refers to memory outside of it, and its path.
func references(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			references(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), f)
		}
	case reflect.Array:
		references(reflect.Zero(v.Type().Elem()), path+"[]", f)
	case reflect.Slice:
		f(path, v)
		if v.Len() > 0 {
			references(v.Index(0), path+"[]", f)
		} else {
			references(reflect.Zero(v.Type().Elem()), path+"[]", f)
		}
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		f(path, v)
	}
}

// TestForkOwnsItsState holds all that a state refers to against what copyFrom does with it: a
// fork has it in memory of its own, shares what is not changed while there is a fork, or does
// without it.
func TestForkOwnsItsState(t *testing.T) {
	const own, shared, unused = "own", "shared", "unused"
	want := map[string]string{
		"model.ahead.ps.pStates":               own,
		"model.ahead.ps.pStates[].tick.weight": own,
		"model.ahead.tables":                   shared,
		"model.ahead.classes":                  shared,
		"model.ahead.traits.tables":            shared,
		"model.ahead.traits.known":             shared,
		"model.ahead.win.items":                shared,
		"model.ahead.gStates.all.first":        own,
		"model.ahead.gStates.all.parts":        own,
		"model.ahead.gStates.all.parts[]":      own,
		"model.ahead.gStates.free":             unused,
		"model.ahead.gStates.index.table":      unused,
		"model.ahead.gStates.index.rest":       unused,
		"model.ahead.gStates.index.crowd":      unused,
		"model.ahead.mStates":                  own,
		"model.queues.node":                    own,
		"model.queues.local":                   own,
		"model.returned":                       own,
		"tally.summary.BySource":               unused,
		"tally.summary.ByBasis":                unused,
		"requests.forEachPsAhead":              shared,
		"deferred.list":                        own,
		"deferred.list[].held":                 shared,
		"deferred.open":                        own,
		"drains.list":                          own,
		"thieves.list":                         own,
		"weights":                              own,
	}
	r := ahead(300, nil, upTo(1, 4))
	s := &r.step.state
	s.model.returned = make([]returned, 1)
	s.requests.forEachPsAhead = make([]forEachPAhead, 1)
	s.deferred = deferredEnqueues{list: []deferredEnqueue{{held: []int32{1}}}, open: make([]openEnqueue, 1)}
	s.drains.list, s.thieves.list = make([]drain, 1), make([]wakingThief, 1)
	fork, second := r.step.engine.copy(0), r.step.engine.copy(1)
	second.state.copyFrom(&fork.state)
	copied := map[string]uintptr{}
	references(reflect.ValueOf(&second.state).Elem(), "", func(path string, v reflect.Value) { copied[path] = v.Pointer() })
	references(reflect.ValueOf(&fork.state).Elem(), "", func(path string, v reflect.Value) {
		switch to := copied[path]; {
		case want[path] == "":
			t.Errorf("%s is new: does copyFrom copy it?", path)
		case want[path] != unused && v.Pointer() == 0:
			t.Errorf("%s: the test has nothing there", path)
		case want[path] == own && to == v.Pointer(), want[path] == shared && to != v.Pointer():
			t.Errorf("%s is not %s", path, want[path])
		}
		delete(want, path)
	})
	for path := range want {
		t.Errorf("%s is gone", path)
	}
}

// TestPartsKeepNothing sees to it that the parts of a stepper have all in its state that a fork
// has to go on with. What they have themselves is of no fork, or of no event to come.
func TestPartsKeepNothing(t *testing.T) {
	may := map[string]bool{
		"before": true, "rebuilding": true,
		"out.sink": true, "out.held": true, "out.stepping": true, "out.discarded": true,
		"engine.rows": true, "engine.answered": true, "engine.spare": true, "engine.spent": true,
		"correct.room": true, "steals.ends": true,
	}
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			switch name := path + f.Name; {
			case f.Type.Kind() == reflect.Pointer, f.Type == reflect.TypeFor[state](), may[name]:
			case path == "" && f.Type.Kind() == reflect.Struct, f.Type == reflect.TypeFor[view]():
				walk(f.Type, name+".")
			default:
				t.Errorf("%s is not in the state", name)
			}
		}
	}
	walk(reflect.TypeFor[stepper](), "")
}
