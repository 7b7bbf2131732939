package analyze

import (
	"reflect"

	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

// configured reports whether a detector's thresholds are others than the defaults.
func configured(t all.Thresholds, id string) bool {
	for f, is := range reflect.ValueOf(t).Fields() {
		if f.Tag.Get("json") == id {
			return !is.Equal(reflect.ValueOf(all.Default()).FieldByIndex(f.Index))
		}
	}
	return false
}
