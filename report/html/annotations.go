package html

import (
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// maxNote bounds the name of a task or region, in characters.
const maxNote = 120

// packNotes are the types of tasks and regions, for the numbers in windows.
func packNotes(types []string) []string {
	var out []string
	for _, s := range types {
		out = append(out, words.Cut(words.Visible(s), maxNote))
	}
	return out
}

// packAnnotations adds the tasks and regions of a window, by goroutine and time. Times are
// relative to the window's start; the depth of a task is -1.
func packAnnotations(b *block, pre string, w timeline.Window) {
	if len(w.Annotations) == 0 {
		return
	}
	b.ints(pre+"note.g", column(w.Annotations, func(x *timeline.Annotation) int64 { return x.G }))
	b.ints(pre+"note.from", column(w.Annotations, func(x *timeline.Annotation) int64 { return x.From - w.FromNs }))
	b.ints(pre+"note.len", column(w.Annotations, func(x *timeline.Annotation) int64 { return x.To - x.From }))
	b.ints(pre+"note.name", column(w.Annotations, func(x *timeline.Annotation) int64 { return int64(x.Name) }))
	b.ints(pre+"note.of", column(w.Annotations, func(x *timeline.Annotation) int64 { return int64(x.Of) }))
	b.ints(pre+"note.depth", column(w.Annotations, func(x *timeline.Annotation) int64 {
		if x.Task {
			return -1
		}
		return int64(x.Depth)
	}))
}
