package fleet

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/gmpscope/gmpscope/internal/files"
)

// Bounds of a Set: what the records held in memory weigh, and files of one level that are merged.
const (
	maxHeld = 1 << 16 // some 6 MB
	maxRuns = 16
)

// Set is a set of records, one for each trace: a [Record] is the summary of a trace, and its Key the
// SHA-256 of that trace. Most are in temporary files, so that its memory is bounded. The zero value is
// empty. It is not safe for concurrent use.
type Set struct {
	ctx    context.Context // nil: none
	held   []*Record
	weight int // of held
	most   int // of weight; 0 is maxHeld
	dir    string
	runs   []run // in the order of their levels, the highest first
	made   int   // files made so far
	moves  int   // records written so far
}

// run is a file of sorted records. A run of a level holds what maxRuns of the level below did, so
// that a record is written once for each level, and there are few of them.
type run struct {
	name  string
	level int
}

// weigh returns how many numbers and names, or so, a record has.
func weigh(r *Record) int {
	n := 32 + 2*len(r.Sources) + len(r.User.Histogram) + len(r.Self.Histogram) + len(r.System.Histogram) + 4*(len(r.Findings)+len(r.Worst))
	for i := range r.Sources {
		n += 2 * len(r.Sources[i].Labels)
	}
	for i := range r.Classes {
		n += 16 + len(r.Classes[i].Waits.Histogram)
	}
	return n
}

// Add adds a record. If the Set has one with the same Key, [Set.All] yields the union of both, by
// [Record.Union].
func (s *Set) Add(r *Record) error {
	s.held, s.weight = append(s.held, r), s.weight+weigh(r)
	if s.weight < cmp.Or(s.most, maxHeld) {
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	for {
		n := len(s.runs) - maxRuns
		if n < 0 || s.runs[n].level != s.runs[len(s.runs)-1].level {
			return nil
		}
		if err := s.fold(n); err != nil {
			return err
		}
	}
}

// Close removes the temporary files.
func (s *Set) Close() error {
	if s.dir == "" {
		return nil
	}
	return files.RemoveTempFolder(s.dir)
}

// All yields the records, one for each Key, in ascending order of Key. An error is the last that it
// yields, with a nil record.
func (s *Set) All() iter.Seq2[*Record, error] {
	return s.until(Merge(s.sources()...))
}

// until yields records until the context of the set ends, and then its error.
func (s *Set) until(records iter.Seq2[*Record, error]) iter.Seq2[*Record, error] {
	if s.ctx == nil {
		return records
	}
	return func(yield func(*Record, error) bool) {
		for r, err := range records {
			if s.ctx.Err() != nil {
				r, err = nil, context.Cause(s.ctx)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// sources are what the set consists of, each sorted.
func (s *Set) sources() []iter.Seq2[*Record, error] {
	slices.SortStableFunc(s.held, func(a, b *Record) int { return strings.Compare(a.Key, b.Key) })
	out := []iter.Seq2[*Record, error]{func(yield func(*Record, error) bool) {
		for _, r := range s.held {
			if !yield(r, nil) {
				return
			}
		}
	}}
	for _, r := range s.runs {
		out = append(out, recordsOf(r.name))
	}
	return out
}

// spill moves what is held to a file.
func (s *Set) spill() error {
	name, err := s.write(s.until(Merge(s.sources()[0])))
	if err != nil {
		return err
	}
	clear(s.held)
	s.held, s.weight, s.runs = s.held[:0], 0, append(s.runs, run{name: name})
	return nil
}

// fold makes one file of the runs from n on.
func (s *Set) fold(n int) error {
	var from []iter.Seq2[*Record, error]
	for _, r := range s.runs[n:] {
		from = append(from, recordsOf(r.name))
	}
	name, err := s.write(s.until(Merge(from...)))
	if err != nil {
		return err
	}
	for _, old := range s.runs[n:] {
		if err := os.Remove(old.name); err != nil {
			return err
		}
	}
	s.runs = append(s.runs[:n], run{name, s.runs[n].level + 1})
	return nil
}

func (s *Set) write(records iter.Seq2[*Record, error]) (name string, err error) {
	if s.dir == "" {
		if s.dir, err = files.TempFolder("gmpscope-fleet-"); err != nil {
			return "", err
		}
	}
	s.made++
	name = filepath.Join(s.dir, strconv.Itoa(s.made)+".sum")
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	w := newWriter(f, gzip.BestSpeed)
	err = writeAll(w, records, nil)
	s.moves += int(w.n)
	return name, errors.Join(err, f.Close())
}

// WriteAll writes records, which must come in ascending order of their keys, as a file of summaries, and
// then unread, the inputs that could not be summarized.
func WriteAll(to io.Writer, records iter.Seq2[*Record, error], unread []Problem) error {
	return writeAll(NewWriter(to), records, unread)
}

func writeAll(w *Writer, records iter.Seq2[*Record, error], unread []Problem) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return w.Close(unread)
}

// recordsOf yields the records of a file.
func recordsOf(name string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		f, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		r, err := NewReader(f)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Merge merges sequences of records, each in ascending order of Key, into one: records with the same
// Key become their [Record.Union]. It holds one record of each sequence. An error ends it.
func Merge(sets ...iter.Seq2[*Record, error]) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		type head struct {
			record *Record // the next one of its set
			pull   func() (*Record, error, bool)
		}
		var heads []head
		for _, set := range sets {
			pull, stop := iter.Pull2(set)
			defer stop()
			r, err, ok := pull()
			if err != nil {
				yield(nil, err)
				return
			}
			if ok {
				heads = append(heads, head{r, pull})
			}
		}
		var r *Record
		for len(heads) > 0 {
			at := 0 // of the least key
			for i := range heads {
				if heads[i].record.Key < heads[at].record.Key {
					at = i
				}
			}
			h := &heads[at]
			var err error
			switch {
			case r == nil:
				r = h.record
			case r.Key == h.record.Key:
				r, err = r.Union(h.record)
			case !yield(r, nil):
				return
			default:
				r = h.record
			}
			var more bool
			if err == nil {
				h.record, err, more = h.pull()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				heads = slices.Delete(heads, at, at+1)
			}
		}
		if r != nil {
			yield(r, nil)
		}
	}
}
