package fleet

import (
	"errors"
	"reflect"
)

// sound returns an error if a number in a record is negative, or a text too long: sums
// stay as they are, and memory is bounded.
func sound(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int64, reflect.Int32:
		if v.Int() < 0 {
			return errors.New("a number in it is negative")
		}
	case reflect.String:
		if v.Len() > maxName {
			return errors.New("a name in it is too long")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := sound(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := sound(v.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
