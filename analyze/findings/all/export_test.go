package all

import (
	"maps"
	"slices"
)

// Special returns the paths of the thresholds that have bounds of their own.
func Special() []string { return slices.Sorted(maps.Keys(special)) }
