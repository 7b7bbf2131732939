package findings

import (
	"cmp"
	"slices"
)

// Labels counts how often each label of a decision occurs, such as the reason for a stop-the-world,
// for the first 32 labels. The zero value is empty.
type Labels []labelled

type labelled struct {
	label int32
	n     int64
}

const maxLabels = 32

// Add counts one more occurrence of a label, the handle in the Label of a [reference.Decision].
func (l *Labels) Add(label int32) {
	i := slices.IndexFunc(*l, func(x labelled) bool { return x.label == label })
	switch {
	case i >= 0:
		(*l)[i].n++
	case len(*l) < maxLabels:
		*l = append(*l, labelled{label, 1})
	}
}

// MeasuredLabels appends evidence for each of the three most frequent labels in l: what, followed by
// the text of the label, and how often it occurred.
func (x *Finding) MeasuredLabels(what string, l Labels, f *Facts) {
	slices.SortStableFunc(l, func(x, y labelled) int { return cmp.Compare(y.n, x.n) })
	for _, y := range l[:min(3, len(l))] {
		if y.label == 0 || f.Label == nil {
			continue
		}
		if word := f.Label(y.label); word != "" {
			x.Measured(what+word, Count(y.n))
		}
	}
}
