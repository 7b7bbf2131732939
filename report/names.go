package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// TraceNames returns the names of traces in a document, by their paths: base names, with
// as much more of the path as makes them unique, or else a number. URLs are unchanged.
func TraceNames(paths []string) []string {
	parts := make([][]string, len(paths))
	shown := make([]int, len(paths)) // of the parts, the last
	for i, p := range paths {
		parts[i], shown[i] = []string{p}, 1
		if scheme, _, ok := strings.Cut(p, "://"); !ok || strings.ContainsAny(scheme, `/\`) {
			parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(p)), "/")
		}
	}
	name := func(i int) string { return strings.Join(parts[i][len(parts[i])-shown[i]:], "/") }
	differ := func(group []int) bool {
		return slices.ContainsFunc(group, func(i int) bool { return !slices.Equal(parts[i], parts[group[0]]) })
	}
	names := make([]string, len(paths))
	for more := true; more; {
		more = false
		same := map[string][]int{}
		for i := range paths {
			names[i] = name(i)
			same[names[i]] = append(same[names[i]], i)
		}
		for _, group := range same {
			if !differ(group) {
				continue
			}
			for _, i := range group {
				if shown[i] < len(parts[i]) {
					shown[i]++
					more = true
				}
			}
		}
	}
	total, seen := map[string]int{}, map[string]int{}
	for _, n := range names {
		total[n]++
	}
	for i, n := range names {
		if total[n] > 1 {
			seen[n]++
			names[i] = fmt.Sprintf("%s (%d)", n, seen[n])
		}
	}
	return names
}
