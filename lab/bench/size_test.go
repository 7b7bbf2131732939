package bench

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

// size returns how many bytes values reach: through pointers, slices with their
// whole capacity, strings, and the entries of maps. What is reached twice counts
// once; what closures and channels hold does not count. Unlike the live heap this is
// the same each time, whatever the collector did.
func size(values ...any) int64 {
	s := sizer{seen: map[visit]bool{}}
	for _, v := range values {
		s.walk(reflect.ValueOf(v))
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	bytes, end := s.entries, uintptr(0)
	for _, x := range s.spans {
		if x.to > end {
			bytes += int64(x.to - max(x.from, end))
			end = x.to
		}
	}
	return bytes
}

type sizer struct {
	seen    map[visit]bool
	spans   []span
	entries int64 // bytes of those of maps
}

// visit is a place that was looked at. A struct and its first field share an address.
type visit struct {
	at   unsafe.Pointer
	kind reflect.Type
	n    int
}

type span struct{ from, to uintptr }

// isNew reports whether n elements at an address have not been looked at.
func (s *sizer) isNew(at unsafe.Pointer, elem reflect.Type, n int) bool {
	v := visit{at, elem, n}
	if at == nil || n == 0 || s.seen[v] {
		return false
	}
	s.seen[v] = true
	return true
}

// add counts n elements at an address, and reports whether they are new.
func (s *sizer) add(at unsafe.Pointer, elem reflect.Type, n int) bool {
	if !s.isNew(at, elem, n) {
		return false
	}
	s.spans = append(s.spans, span{uintptr(at), uintptr(at) + uintptr(n)*elem.Size()})
	return true
}

func (s *sizer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if s.add(v.UnsafePointer(), v.Type().Elem(), 1) {
			s.walk(v.Elem())
		}
	case reflect.Interface:
		s.walk(v.Elem())
	case reflect.String:
		s.add(unsafe.Pointer(unsafe.StringData(v.String())), reflect.TypeFor[byte](), v.Len())
	case reflect.Slice:
		if s.add(v.UnsafePointer(), v.Type().Elem(), v.Cap()) {
			s.each(v.Slice(0, v.Cap()))
		}
	case reflect.Array:
		s.each(v)
	case reflect.Struct:
		for i := range v.NumField() {
			s.walk(v.Field(i))
		}
	case reflect.Map:
		t := v.Type()
		if !s.isNew(v.UnsafePointer(), t, 1) {
			return
		}
		s.entries += int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size())
		for it := v.MapRange(); it.Next(); {
			s.walk(it.Key())
			s.walk(it.Value())
		}
	}
}

func (s *sizer) each(v reflect.Value) {
	if !reaches(v.Type().Elem()) {
		return
	}
	for i := range v.Len() {
		s.walk(v.Index(i))
	}
}

// reaches reports whether values of a type refer to others.
func reaches(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return reaches(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if reaches(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

func TestSize(t *testing.T) {
	type node struct {
		next *node
		name string
	}
	type pair [2]int64
	ring := &node{name: "four"}
	ring.next = ring
	many := make([]pair, 3, 10)
	for _, c := range []struct {
		what   string
		values []any
		want   int64
	}{
		{"nothing", []any{nil, (*node)(nil), []int(nil), ""}, 0},
		{"a ring", []any{ring}, 24 + 4},
		{"unused capacity", []any{many}, 160},
		{"a part of what is counted", []any{&many[1], many, many[:2]}, 160},
		{"pointers beyond the length", []any{append(make([]*pair, 0, 4), &pair{})[:0]}, 4*8 + 16},
		{"a map", []any{map[int32]*pair{1: {}, 2: {}}}, 2*(4+8) + 2*16},
		{"interfaces", []any{[]any{&pair{}, &pair{}}}, 2*16 + 2*16},
		{"an array in a struct", []any{&struct{ x [2][]byte }{[2][]byte{make([]byte, 5), make([]byte, 7)}}}, 48 + 12},
	} {
		if got := size(c.values...); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.what, got, c.want)
		}
	}
}
