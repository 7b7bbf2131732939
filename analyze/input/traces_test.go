package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// countEvents reads data with a reader of its own and counts the events that are no Sync: those are
// not comparable, each reader adds its own.
func countEvents(data []byte) (n int, err error) {
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if ev.Kind() != trace.EventSync {
			n++
		}
	}
}

// traceFiles returns the recorded traces: the project's own, and those of the folders named in
// GMPSCOPE_TRACES.
func traceFiles(t testing.TB) []string {
	roots := append([]string{filepath.Join("..", "..", "testdata", "traces")}, filepath.SplitList(os.Getenv("GMPSCOPE_TRACES"))...)
	var files []string
	for _, root := range roots {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".go") {
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}

// Reading each generation by itself gives as many events as reading the whole file.
func TestPiecesOfRecordedTraces(t *testing.T) {
	files := traceFiles(t)
	if len(files) == 0 {
		t.Skip("no recorded traces here")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			whole := tracetest.Unpacked(t, file)
			if !tracetest.Long() && len(whole) > 1<<20 {
				t.Skip("large")
			}
			s, err := Open(context.Background(), file, Options{})
			if err != nil {
				if _, werr := countEvents(whole); werr == nil {
					t.Fatalf("x/exp/trace reads it: %v", err)
				}
				t.Log(err)
				return
			}
			defer s.Close()
			want, wantErr := countEvents(whole)
			got := 0
			var bytesSeen int64 = headerSize
			var gotErr error
			var log strings.Builder
			for {
				g, err := s.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				n, err := countEvents(g.Data)
				got += n
				bytesSeen += g.Bytes
				fmt.Fprintf(&log, "gen %d offset %d bytes %d complete %v events %d err %v\n", g.Number, g.Offset, g.Bytes, g.Complete, n, err)
				if err != nil && gotErr == nil {
					gotErr = err
				}
			}
			st := s.Stats()
			if len(whole) == headerSize && got == 0 && gotErr == nil {
				return // a header alone is no error here
			}
			// Of a trace that ends inside a batch, the pieces have the beginning of that batch too.
			cut := wantErr != nil && got > want
			if got != want && !cut || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("%d events in pieces (error %v), %d in one (error %v), stats %+v\n%s", got, gotErr, want, wantErr, st, log.String())
			}
			if bytesSeen+st.LostBytes != int64(len(whole)) || st.Bytes != int64(len(whole)) {
				t.Errorf("%d bytes in generations, %d lost, %d read, of %d", bytesSeen, st.LostBytes, st.Bytes, len(whole))
			}
			if st.LossCount > 0 {
				t.Logf("%+v\n%s", st, log.String())
			}
		})
	}
}
