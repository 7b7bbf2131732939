package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// bounds are the values that a threshold may have.
type bounds struct {
	Least, Most float64
	Whole       bool // only whole numbers
}

const (
	// mostNs is the longest time, a day, and mostCount the highest number: a product
	// of two, for each P, is a number still.
	mostNs    = 24 * 3600e9
	mostCount = 1e6
	mostFloat = 1e9
	// leastWindowNs is the shortest window of those that are made all through a
	// trace.
	leastWindowNs = 1e6
)

// special are the bounds of thresholds that detectors divide by, or that have
// others for another reason.
var special = map[string]struct{ least, most float64 }{
	"cpu-throttling.min_count":    {2, mostCount}, // two have a distance
	"cpu-throttling.period_ns":    {leastWindowNs, mostNs},
	"goroutine-churn.window_ns":   {leastWindowNs, mostNs},
	"p-thrash.window_ns":          {leastWindowNs, mostNs},
	"preemption-thrash.bucket_ns": {leastWindowNs, mostNs},
	"runnext-monopoly.parties":    {1, 4}, // as many are followed
	"steal-storm.window_ns":       {leastWindowNs, mostNs},
	"thundering-herd.peak":        {1, mostFloat},
	"yield-spinning.per_second":   {1, mostFloat},
}

// boundsOf returns those of the threshold at a path such as convoy.grade.note_ns.
func boundsOf(path string, kind reflect.Kind) bounds {
	name := path[strings.LastIndexByte(path, '.')+1:]
	b := bounds{Most: mostFloat}
	if kind != reflect.Float64 {
		b = bounds{Least: 1, Most: mostCount, Whole: true} // nothing is no finding
		if name == "ns" || strings.HasSuffix(name, "_ns") {
			b.Most = mostNs
		}
	}
	if x, ok := special[path]; ok {
		b.Least, b.Most = x.least, x.most
	}
	if kind == reflect.Int8 {
		b.Most = min(b.Most, math.MaxInt8)
	}
	return b
}

// kind is what a value must be, in words.
func (b bounds) kind() string {
	switch {
	case !b.Whole:
		return "a number"
	case b.Most >= mostNs:
		return "a whole number of nanoseconds"
	}
	return "a whole number"
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
