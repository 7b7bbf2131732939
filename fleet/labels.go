package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/files"
)

// Sidecar is appended to a trace's name for the name of its file of labels.
const Sidecar = ".labels"

// MaxSidecar is the largest size of a file of labels, in bytes.
const MaxSidecar = 16 << 10

// derived are the labels that a trace has by itself.
var derived = []string{"gomaxprocs", "go"}

// ParseLabel reads a label as name=value.
func ParseLabel(s string) (Label, error) {
	name, value, ok := strings.Cut(s, "=")
	l := Label{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
	switch {
	case !ok || l.Name == "":
		return l, fmt.Errorf("%q: must be NAME=VALUE", s)
	case strings.ContainsFunc(l.Name, unfit):
		return l, fmt.Errorf("%q: a name has letters, digits, - and _", s)
	case slices.Contains(derived, l.Name):
		return l, fmt.Errorf("%q: traces have their own %s", s, l.Name)
	case len(s) > maxName || !utf8.ValidString(s):
		return l, fmt.Errorf("a label must be UTF-8, of at most %d bytes", maxName)
	}
	return l, nil
}

func unfit(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// Pattern reads labels of a trace from the end of its path.
type Pattern struct {
	re    *regexp.Regexp
	names []string // of the labels, in the order of its groups
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}|\*`)

// ParsePattern reads a pattern such as {service}/{version}-*.trace: a name in braces is a
// label, whose value reaches to the next character of the pattern, and a star is anything;
// neither reaches over a slash.
func ParsePattern(s string) (*Pattern, error) {
	var b strings.Builder
	b.WriteString("(?:^|/)")
	from := 0
	var names []string
	for _, at := range placeholder.FindAllStringIndex(s, -1) {
		b.WriteString(regexp.QuoteMeta(s[from:at[0]]))
		from = at[1]
		if s[at[0]] == '*' {
			b.WriteString("[^/]*")
			continue
		}
		name := s[at[0]+1 : at[1]-1]
		if _, err := ParseLabel(name + "=x"); err != nil {
			return nil, err
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%q: has {%s} twice", s, name)
		}
		b.WriteString("([^/]+?)")
		names = append(names, name)
	}
	b.WriteString(regexp.QuoteMeta(s[from:]) + "$")
	if len(names) == 0 || len(names) > maxLabels {
		return nil, fmt.Errorf("%q: must have one to %d names in braces", s, maxLabels)
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s, err)
	}
	return &Pattern{re, names}, nil
}

// labels returns those in a path; none if it does not match.
func (p *Pattern) labels(path string) (out []Label) {
	if p == nil {
		return nil
	}
	if found := p.re.FindStringSubmatch(filepath.ToSlash(path)); found != nil {
		for i, name := range p.names {
			out = append(out, Label{Name: name, Value: cut(found[i+1])})
		}
	}
	return out
}

// labelsOf returns the labels of a trace: those of all, in their place those of its path,
// and in the place of both those of the files beside it, if there are any.
func labelsOf(ctx context.Context, name string, all []Label, pattern *Pattern) ([]Label, error) {
	own, err := readSidecar(ctx, name+Sidecar)
	if err != nil {
		return nil, fmt.Errorf("labels in %s: %w", name+Sidecar, err)
	}
	return joinLabels(all, pattern.labels(name), recorded(ctx, name), own)
}

// recorded returns the labels that a trace was recorded with; of a file that cannot be used the analysis warns.
func recorded(ctx context.Context, name string) (out []Label) {
	if strings.Contains(name, "://") {
		return nil
	}
	m, err := sidecar.Read(ctx, name)
	if err != nil || m == nil {
		return nil
	}
	for n, v := range m.Labels {
		if l, err := ParseLabel(n + "=" + v); err == nil {
			out = append(out, l)
		}
	}
	return out
}

// joinLabels puts labels together; of one name the last counts.
func joinLabels(lists ...[]Label) ([]Label, error) {
	of := map[string]string{}
	for _, l := range slices.Concat(lists...) {
		of[l.Name] = l.Value
	}
	if len(of) > maxLabels {
		return nil, fmt.Errorf("it has more than %d labels", maxLabels)
	}
	var out []Label
	for _, n := range slices.Sorted(maps.Keys(of)) {
		out = append(out, Label{Name: n, Value: of[n]})
	}
	return out, nil
}

func readSidecar(ctx context.Context, name string) ([]Label, error) {
	if strings.Contains(name, "://") {
		return nil, nil
	}
	f, err := files.Regular(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrSpecial):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer f.Close()
	return parseSidecar(f)
}

func parseSidecar(from io.Reader) ([]Label, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxSidecar+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSidecar {
		return nil, fmt.Errorf("more than %d bytes", MaxSidecar)
	}
	var out []Label
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		l, err := ParseLabel(line)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
