package all

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Bounds are the limits, both inclusive, between which a configuration may set a threshold, in
// the unit of that threshold.
type Bounds struct {
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

// BoundsOf returns the bounds of the threshold at a path of JSON keys such as
// convoy.grade.note_ns, which has the given kind of Go type. It does not look whether there is
// such a threshold.
func BoundsOf(path string, kind reflect.Kind) Bounds {
	name := path[strings.LastIndexByte(path, '.')+1:]
	b := Bounds{Most: mostFloat}
	if kind != reflect.Float64 {
		b = Bounds{Least: 1, Most: mostCount, Whole: true} // zero would always match
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

// Contains reports whether a threshold with bounds b may be x, in the unit of the threshold.
func (b Bounds) Contains(x float64) bool {
	return x >= b.Least && x <= b.Most && (!b.Whole || x == math.Trunc(x)) // no NaN
}

// Err returns the error which says that value, as written, is beyond the bounds b of the
// threshold at a path such as convoy.grade.note_ns. It is never nil.
func (b Bounds) Err(path, value string) error {
	return fmt.Errorf("%s is %s, but must be %s from %s to %s", path, value, b.Kind(), number(b.Least), number(b.Most))
}

// Kind returns, for error messages, what a value within b must be: "a number", "a whole
// number" or "a whole number of nanoseconds".
func (b Bounds) Kind() string {
	switch {
	case !b.Whole:
		return "a number"
	case b.Most >= mostNs:
		return "a whole number of nanoseconds"
	}
	return "a whole number"
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Check returns an error that names, by its JSON keys, the first threshold beyond its bounds;
// nil if there is none. Detectors divide by thresholds, so those that come from a user must be
// checked.
func (t Thresholds) Check() error { return check("", reflect.ValueOf(t)) }

// check checks the thresholds in a struct, whose path ends in a period or is empty.
func check(path string, v reflect.Value) error {
	for f, x := range v.Fields() {
		name := path + f.Tag.Get("json")
		var n float64
		switch {
		case x.Kind() == reflect.Struct:
			if err := check(name+".", x); err != nil {
				return err
			}
			continue
		case x.CanInt():
			n = float64(x.Int())
		default:
			n = x.Float()
		}
		if b := BoundsOf(name, x.Kind()); !b.Contains(n) {
			return b.Err(name, number(n))
		}
	}
	return nil
}
