package requests

import (
	"cmp"
	"maps"
	"slices"
)

// set is a set of numbers, mostly of a few. The zero value is empty.
type set[K cmp.Ordered] struct {
	small []K
	many  map[K]struct{} // all, if there are more than fewest
}

// fewest is how many are found sooner by looking at each.
const fewest = 8

func (s *set[K]) add(x K) {
	if len(s.many) == 0 {
		if slices.Contains(s.small, x) {
			return
		}
		if len(s.small) < fewest {
			s.small = append(s.small, x)
			return
		}
		if s.many == nil {
			s.many = map[K]struct{}{}
		}
		for _, y := range s.small {
			s.many[y] = struct{}{}
		}
		s.small = s.small[:0]
	}
	s.many[x] = struct{}{}
}

func (s *set[K]) remove(x K) {
	delete(s.many, x)
	if i := slices.Index(s.small, x); i >= 0 {
		s.small = slices.Delete(s.small, i, i+1)
	}
}

func (s *set[K]) len() int { return len(s.small) + len(s.many) }

// sorted returns all, in order. It is valid until s is changed.
func (s *set[K]) sorted() []K {
	if len(s.many) > 0 {
		return slices.Sorted(maps.Keys(s.many))
	}
	slices.Sort(s.small)
	return s.small
}

// none is s without its members, for others.
func (s *set[K]) none() set[K] { return set[K]{small: s.small[:0]} }
