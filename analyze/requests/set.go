package requests

import (
	"cmp"
	"maps"
	"slices"
)

// set is a set of numbers, mostly of a few. The zero value is empty.
type set[K cmp.Ordered] struct {
	few  []K
	many map[K]struct{} // all, if there are more than fewest
}

// fewest is how many are found sooner by looking at each.
const fewest = 8

func (s *set[K]) add(x K) {
	if len(s.many) == 0 {
		if slices.Contains(s.few, x) {
			return
		}
		if len(s.few) < fewest {
			s.few = append(s.few, x)
			return
		}
		if s.many == nil {
			s.many = map[K]struct{}{}
		}
		for _, y := range s.few {
			s.many[y] = struct{}{}
		}
		s.few = s.few[:0]
	}
	s.many[x] = struct{}{}
}

func (s *set[K]) remove(x K) {
	delete(s.many, x)
	if i := slices.Index(s.few, x); i >= 0 {
		s.few = slices.Delete(s.few, i, i+1)
	}
}

func (s *set[K]) len() int { return len(s.few) + len(s.many) }

// sorted returns all, in order. It is valid until s is changed.
func (s *set[K]) sorted() []K {
	if len(s.many) > 0 {
		return slices.Sorted(maps.Keys(s.many))
	}
	slices.Sort(s.few)
	return s.few
}

// none is s without its members, for others.
func (s *set[K]) none() set[K] { return set[K]{few: s.few[:0]} }
