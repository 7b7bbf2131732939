package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/internal/names"
)

// decoder reads a configuration token by token, so that each mistake has its
// line: encoding/json tells no line, does not mind keys that are given twice, and
// of unknown keys only the first, without a place. Its depth is that of Config.
type decoder struct {
	text []byte
	json *json.Decoder
	at   int64 // the offset behind the last token, or of a mistake of syntax
}

var errShort = errors.New("ends too early: a bracket is not closed")

func (d *decoder) token() (json.Token, error) {
	t, err := d.json.Token()
	d.at = d.json.InputOffset()
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		if d.at = bad.Offset; strings.Contains(bad.Error(), `'\n'`) {
			d.at-- // it is the end of that line
		}
		return nil, fmt.Errorf("is no JSON: %v", err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.at = int64(len(bytes.TrimRight(d.text, " \t\r\n")))
		return nil, errShort
	}
	return t, err
}

func (d *decoder) config(c *Config) error {
	if len(bytes.TrimSpace(d.text)) == 0 {
		return errors.New("is empty: the least configuration is {}")
	}
	if err := d.object("the configuration", "key", configKeys, func(key string) error {
		switch key {
		case "thresholds":
			return d.object("thresholds", "detector", detectorIDs, func(id string) error {
				return d.thresholds(id, id, field(reflect.ValueOf(&c.Thresholds).Elem(), id))
			})
		case "suppress":
			return d.list(key, maxSuppressions, func() error { return d.suppression(c) })
		case "work":
			return d.object(key, "key", workKeys, func(key string) error {
				return d.list("work."+key, maxHomes, func() error { return d.home(c) })
			})
		default:
			return d.stringTo(key, &c.Schema)
		}
	}); err != nil {
		return err
	}
	if _, err := d.json.Token(); err != io.EOF {
		d.at = d.json.InputOffset()
		return errors.New("something follows the configuration: a file holds one")
	}
	return nil
}

// configKeys are the keys of a Config, and detectorIDs those of all.Thresholds.
var (
	configKeys      = keys(reflect.TypeFor[Config]())
	detectorIDs     = keys(reflect.TypeFor[all.Thresholds]())
	suppressionKeys = keys(reflect.TypeFor[findings.Suppression]())
	workKeys        = keys(reflect.TypeFor[Work]())
)

// key is the JSON key of a field.
func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

// keys are the JSON keys of a struct.
func keys(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		out = append(out, key(f))
	}
	return out
}

// field is the field of a struct with that key, which there is.
func field(v reflect.Value, name string) reflect.Value {
	for f, x := range v.Fields() {
		if key(f) == name {
			return x
		}
	}
	panic("no field has the key " + name)
}

// object reads an object; each reads the value of a key. Errors call the object of,
// and its keys what: "convoy has no threshold …".
func (d *decoder) object(of, what string, known []string, each func(key string) error) error {
	if err := d.open(of, '{'); err != nil {
		return err
	}
	given := map[string]bool{}
	for d.json.More() {
		t, err := d.token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok { // a missing key; the decoder finds most of such
			return fmt.Errorf("%s has a value without a key", of)
		}
		if !slices.Contains(known, name) {
			return unknown(of, what, name, known)
		}
		if given[name] {
			return fmt.Errorf("%s has %s twice: remove one of them", of, name)
		}
		given[name] = true
		if err := each(name); err != nil {
			return err
		}
	}
	_, err := d.token()
	return err
}

// open reads the bracket that begins a value.
func (d *decoder) open(what string, bracket json.Delim) error {
	t, err := d.token()
	if err != nil {
		return err
	}
	if t != bracket {
		kind := "an object, as in {…}"
		if bracket == '[' {
			kind = "a list, as in […]"
		}
		return fmt.Errorf("%s must be %s, not %s", what, kind, shown(t))
	}
	return nil
}

// unknown is the error of a key that there is not.
func unknown(of, what, name string, known []string) error {
	near := names.Near(name, known)
	if len(near) > 0 {
		return fmt.Errorf("%s has no %s %s; did you mean %s?", of, what, quoted(name), strings.Join(near[:min(len(near), 3)], " or "))
	}
	if len(known) > 20 {
		return fmt.Errorf("%s has no %s %s", of, what, quoted(name))
	}
	return fmt.Errorf("%s has no %s %s, only %s", of, what, quoted(name), strings.Join(known, ", "))
}

// quoted is a string of the file for an error, which has one line.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// shown is a value of the file for an error.
func shown(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return quoted(t)
	case json.Delim:
		if t == '{' {
			return "an object"
		}
		return "a list"
	default:
		return strings.Trim(quoted(fmt.Sprint(t)), `"`)
	}
}

// thresholds reads the thresholds of a detector, or a group of them, into a
// struct of numbers.
func (d *decoder) thresholds(id, of string, to reflect.Value) error {
	return d.object(of, "threshold", keys(to.Type()), func(name string) error {
		path := of + "." + name
		f := field(to, name)
		if f.Kind() == reflect.Struct {
			return d.thresholds(id, path, f)
		}
		t, err := d.token()
		if err != nil {
			return err
		}
		b := all.BoundsOf(path, f.Kind())
		n, ok := t.(json.Number)
		if !ok {
			return fmt.Errorf("%s must be %s, not %s", path, b.Kind(), shown(t))
		}
		x, err := n.Float64()
		if err != nil || !b.Contains(x) {
			return b.Err(path, shown(t))
		}
		if f.CanInt() {
			f.SetInt(int64(x)) // exact: Most is less than 1<<53
		} else {
			f.SetFloat(x)
		}
		return nil
	})
}

func (d *decoder) stringTo(what string, to *string) error {
	t, err := d.token()
	if err != nil {
		return err
	}
	s, ok := t.(string)
	if !ok {
		return fmt.Errorf("%s must be a text in quotation marks, not %s", what, shown(t))
	}
	*to = s
	return nil
}

func (d *decoder) list(what string, most int, each func() error) error {
	if err := d.open(what, '['); err != nil {
		return err
	}
	for n := 0; d.json.More(); n++ {
		if n == most {
			return fmt.Errorf("%s has more than %d elements", what, most)
		}
		if err := each(); err != nil {
			return err
		}
	}
	_, err := d.token()
	return err
}

func (d *decoder) home(c *Config) error {
	var s string
	if err := d.stringTo("a home", &s); err != nil {
		return err
	}
	if class, function, _ := strings.Cut(s, "@"); class == "" || function == "" {
		return fmt.Errorf("a home is %s, but must be CLASS@FUNCTION: a start function, and one that its goroutines wait in", quoted(s))
	}
	c.Work.Homes = append(c.Work.Homes, s)
	return nil
}

func (d *decoder) suppression(c *Config) error {
	const of = "a suppression"
	s := &findings.Suppression{}
	if err := d.object(of, "key", suppressionKeys, func(name string) error {
		to := field(reflect.ValueOf(s).Elem(), name).Addr().Interface().(*string)
		if err := d.stringTo(name, to); err != nil {
			return err
		}
		switch name {
		case "finding":
			if !slices.Contains(detectorIDs, *to) {
				return unknown("gmpscope", "detector", *to, detectorIDs)
			}
		case "until":
			if _, err := time.Parse(time.DateOnly, *to); err != nil {
				return fmt.Errorf("until is %s, but must be a date such as 2027-03-01", quoted(*to))
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, x := range []struct{ name, value, what string }{
		{"finding", s.Finding, "the ID of a detector"},
		{"class", s.Class, "the start function of the goroutines, or * for any"},
		{"reason", s.Reason, "why the finding is accepted"},
		{"owner", s.Owner, "who answers for that"},
	} {
		if strings.TrimSpace(x.value) == "" {
			return fmt.Errorf("%s lacks %s: %s", of, x.name, x.what)
		}
	}
	c.Suppress = append(c.Suppress, *s)
	return nil
}
