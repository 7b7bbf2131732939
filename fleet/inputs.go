package fleet

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/gmpscope/gmpscope/internal/files"
)

// extensions are those of files in folders that are taken for traces and summaries. Others
// are if they begin like one.
var extensions = []string{".trace", ".out", ".gz", ".zst", ".sum"}

// Find returns the files that paths name, sorted, each once: files and URLs themselves,
// those in folders and in their folders, and those that match a pattern. In folders
// hidden files are left out, and what is neither called nor begins like a trace. A path
// that names nothing, and a folder that cannot be read, is returned: to open it says why.
func Find(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		st, err := os.Stat(p)
		switch {
		case err == nil && st.IsDir():
			out = append(out, filesIn(p)...)
		case err != nil && strings.ContainsAny(p, "*?["):
			found, err := filepath.Glob(p)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			if len(found) == 0 {
				found = []string{p}
			}
			out = append(out, found...)
		default:
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// filesIn returns the files in a folder, and the folders in it that cannot be read.
func filesIn(folder string) []string {
	var out []string
	_ = filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			out = append(out, name)
		case strings.HasPrefix(d.Name(), ".") && name != folder:
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() || strings.HasSuffix(name, Sidecar) || special(d, name):
		case slices.Contains(extensions, filepath.Ext(name)) || beginsLike(name, "go 1.") || beginsLike(name, summaryStart):
			out = append(out, name)
		}
		return nil
	})
	return out
}

// special reports whether a file in a folder is no regular file, nor a link to one or to nothing.
func special(d fs.DirEntry, name string) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return !d.Type().IsRegular()
	}
	st, err := os.Stat(name)
	return err == nil && !st.Mode().IsRegular()
}

// summaryStart is how a file of summaries begins.
const summaryStart = `{"gmpscope_summaries":`

// IsSummaries reports whether a file is a file of summaries, by its first bytes.
func IsSummaries(name string) bool { return beginsLike(name, summaryStart) }

// beginsLike reports whether a regular file begins so, perhaps compressed with gzip.
func beginsLike(name, start string) bool {
	head, err := files.Peek(name, 4<<10)
	return err == nil && startsWith(bytes.NewReader(head), start)
}

// startsWith is beginsLike of what is open.
func startsWith(r io.Reader, start string) bool {
	br := bufio.NewReader(r)
	p, _ := br.Peek(len(start))
	if files.Compression(p) == "gzip" {
		z, err := gzip.NewReader(br)
		if err != nil {
			return false
		}
		p = make([]byte, len(start))
		if _, err := io.ReadFull(z, p); err != nil {
			return false
		}
	}
	return string(p) == start
}

// Shard selects part I of N parts of the inputs, by a hash of their paths, so that N processes can
// share the work: I is from 1 to N. The zero value selects all.
type Shard struct{ I, N int }

// ParseShard reads a shard as I/N, I from 1 to N.
func ParseShard(s string) (sh Shard, err error) {
	if n, err := fmt.Sscanf(s, "%d/%d", &sh.I, &sh.N); n != 2 || err != nil || fmt.Sprintf("%d/%d", sh.I, sh.N) != s || sh.I < 1 || sh.I > sh.N {
		return Shard{}, fmt.Errorf("%q: must be I/N, with I from 1 to N", s)
	}
	return sh, nil
}

// Of returns the names, paths of inputs, that are in the shard, in their order.
func (s Shard) Of(names []string) []string {
	if s.N <= 1 {
		return names
	}
	var out []string
	for _, name := range names {
		h := fnv.New64a()
		io.WriteString(h, name)
		if h.Sum64()%uint64(s.N) == uint64(s.I-1) {
			out = append(out, name)
		}
	}
	return out
}
