// Package config answers: what is judged how strictly, and what is accepted? It
// reads a configuration file, which sets thresholds of the detectors and
// suppresses findings. docs/config.md describes it for users.
//
//	f, err := os.Open("gmpscope.json")
//	...
//	c, err := config.Read(f, "gmpscope.json")
//	...
//	res, err := analyze.Run(ctx, src, analyze.Options{Thresholds: c.Thresholds})
//	...
//	inForce, expired := c.InForce(time.Now())
//	used := res.Suppress(inForce, nil)
package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

// Bounds on a configuration file, which is untrusted like any other input.
const (
	maxSize         = 1 << 20 // bytes
	maxSuppressions = 1000
	maxHomes        = 100
)

// Config is the content of a configuration file. It encodes as JSON in the form of such a
// file.
type Config struct {
	Schema     string                 `json:"$schema,omitempty"` // URL of the JSON Schema, for editors
	Thresholds all.Thresholds         `json:"thresholds"`        // thresholds of the detectors, by ID; unset ones keep their defaults
	Work       Work                   `json:"work"`              // how units of work are found
	Suppress   []findings.Suppression `json:"suppress"`          // findings that are known and accepted
}

// Work configures how units of work, such as requests and jobs, are found.
type Work struct {
	Homes []string `json:"homes"` // where goroutines wait for something to do, as CLASS@FUNCTION: their start function, and one that they wait in
}

// Default returns the configuration in force without a file.
func Default() *Config {
	return &Config{Thresholds: all.Default(), Work: Work{Homes: []string{}}, Suppress: []findings.Suppression{}}
}

// Error is a mistake in a configuration file.
type Error struct {
	Name string // of the file
	Line int    // from 1
	Why  string // what is wrong, and how to mend it
}

// Error returns the file, the line and the mistake in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("configuration %s, line %d: %s", e.Name, e.Line, e.Why)
}

// Read reads a configuration, with [Default] for what it does not set. The name is for
// errors; mistakes in the file are of type *[Error].
func Read(r io.Reader, name string) (*Config, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading configuration %s: %w", name, err)
	}
	line := func(at int) int { return 1 + bytes.Count(text[:min(at, len(text))], []byte{'\n'}) }
	switch {
	case len(text) > maxSize:
		return nil, &Error{name, 1, fmt.Sprintf("is larger than %d bytes: no configuration needs as much", maxSize)}
	case !utf8.Valid(text):
		return nil, &Error{name, line(invalid(text)), "is not UTF-8 text: save it as such"}
	}
	c, d := Default(), &decoder{text: text, json: json.NewDecoder(bytes.NewReader(text))}
	d.json.UseNumber()
	if err := d.config(c); err != nil {
		return nil, &Error{name, line(int(d.at)), err.Error()}
	}
	return c, nil
}

// invalid is where the first bytes are that are no UTF-8.
func invalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// Write writes c as a configuration file.
func (c *Config) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// InForce returns the suppressions in force, and the expired ones.
func (c *Config) InForce(now time.Time) (inForce, expired []findings.Suppression) {
	for _, s := range c.Suppress {
		if s.Expired(now) {
			expired = append(expired, s)
		} else {
			inForce = append(inForce, s)
		}
	}
	return inForce, expired
}
