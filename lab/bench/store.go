package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// store is what was measured, in a file beside the traces, so that a page can be
// measured bit by bit, with -only. It is good for one build of gmpscope and one choice of
// the flags that say what is measured.
type store struct {
	Of       string // the build, and the flags
	Date     time.Time
	Traces   map[string]kept // by stem
	Starts   []started
	Decodes  []time.Duration
	Packages []share
	Steps    []share
}

// kept is what is kept of what was measured on a trace.
type kept struct {
	Facts facts
	Tools []string
	Costs map[string][]cost
	Fails map[string]string
}

func (b *bench) storeFile() string { return filepath.Join(b.dir, "measured.json") }

// stored reads what was measured before of the present build, with the same flags.
func (b *bench) stored() (*store, error) {
	program, err := os.ReadFile(b.gmpscope)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	empty := &store{Of: fmt.Sprintf("%s, full %t, %d rounds", hex.EncodeToString(sum[:]), b.full, b.rounds), Traces: map[string]kept{}}
	data, err := os.ReadFile(b.storeFile())
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, err
	}
	var s store
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", b.storeFile(), err)
	}
	if s.Of != empty.Of {
		return empty, nil
	}
	return &s, nil
}

// save writes the store.
func (b *bench) save(s *store) error {
	s.Date = time.Now()
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(b.storeFile(), data, 0o644)
}

func (s *store) put(m *measured) {
	s.Traces[m.stem()] = kept{m.facts, m.tools, m.costs, m.fails}
}

// measured returns what was measured on the trace of a spec, or nil.
func (s *store) measured(t spec) *measured {
	k, ok := s.Traces[t.stem()]
	if !ok {
		return nil
	}
	return &measured{spec: t, facts: k.Facts, tools: k.Tools, costs: k.Costs, fails: k.Fails}
}
