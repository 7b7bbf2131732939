package analyze

import (
	"reflect"

	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

// configured reports of each detector, by ID, whether its thresholds are others than the defaults.
func configured(t all.Thresholds) map[string]bool {
	out, defaults := map[string]bool{}, reflect.ValueOf(all.Default())
	for f, is := range reflect.ValueOf(t).Fields() {
		out[f.Tag.Get("json")] = !is.Equal(defaults.FieldByIndex(f.Index))
	}
	return out
}
