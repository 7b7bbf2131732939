package analyze

import (
	"reflect"

	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

// configured reports whether a detector's thresholds are others than the defaults.
func configured(t all.Thresholds, id string) bool {
	is, was := reflect.ValueOf(t), reflect.ValueOf(all.Default())
	for i := range is.NumField() {
		if is.Type().Field(i).Tag.Get("json") == id {
			return !is.Field(i).Equal(was.Field(i))
		}
	}
	return false
}
