// Package plates checks what a camera took for registration plates.
package plates

import (
	"strings"
	"unicode"
)

type Plate struct {
	Country, Letters, Digits string
}

// A Verdict says whether a field is as it should be.
type Verdict <-chan bool

// Check checks all fields of a plate at the same time.
func Check(p Plate) bool {
	fields := []Verdict{
		begin(func() bool { return isCountry(p.Country) }),
		begin(func() bool { return all(p.Letters, unicode.IsUpper) }),
		begin(func() bool { return all(p.Digits, unicode.IsDigit) }),
		begin(func() bool { return len(p.Letters)+len(p.Digits) <= 7 }),
	}
	ok := true
	for _, field := range fields {
		ok = <-field && ok
	}
	return ok
}

// CheckInTurn checks one field after the other: the remedy.
func CheckInTurn(p Plate) bool {
	return isCountry(p.Country) && all(p.Letters, unicode.IsUpper) && all(p.Digits, unicode.IsDigit) && len(p.Letters)+len(p.Digits) <= 7
}

func begin(check func() bool) Verdict {
	out := make(chan bool)
	go func() { out <- check() }()
	return out
}

func isCountry(text string) bool { return strings.Contains("A B CH D DK F I L NL PL S", text) }

func all(text string, is func(rune) bool) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !is(r) })
}
