package report

import "github.com/gmpscope/gmpscope/report/internal/words"

// The formats of package words, by the names that this package writes them with.

func duration(ns int64) string                  { return words.Duration(ns) }
func instant(ns int64) string                   { return words.Instant(ns) }
func digits(f float64) string                   { return words.Number(f) }
func amount(f float64, one, many string) string { return words.Amount(f, one, many) }
func mean(f float64) string                     { return words.Mean(f) }
func number(n int64) string                     { return words.Count(n) }
func plural(n int64, one, many string) string   { return words.Plural(n, one, many) }
func percent(f float64) string                  { return words.Percent(f) }
func share(part, whole int64) string            { return words.Share(part, whole) }
func ratio(part, whole int64) float64           { return words.Ratio(part, whole) }
func size(n int64) string                       { return words.Size(n) }
func sentence(s string) string                  { return words.Sentence(s) }
func list(parts []string) string                { return words.List(parts) }
func className(s string) string                 { return words.Class(s) }
func shortened(s string, n int) string          { return words.Shortened(s, n) }
func cut(s string, n int) string                { return words.Cut(s, n) }
func visible(s string) string                   { return words.Visible(s) }
func prose(s string, n int) string              { return words.Cut(words.Prose(s), n) }
