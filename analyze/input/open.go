package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/files"
)

// Options specifies where Open takes its input from and how it reports.
type Options struct {
	Stdin     io.Reader     // for "-"; nil means there is none
	StdinName string        // its name in messages; "" means standard input
	Sidecar   *sidecar.Meta // result of [Source.Sidecar] for it; nil for none
	Client    *http.Client  // nil means one with sane timeouts; see Open

	// Progress is called now and then, by the goroutine that calls Open and Next, with the bytes
	// read and their total, both of the input as stored; total is 0 if it is not known.
	Progress func(read, total int64)

	// MaxMemory bounds what is given at once by what decoding it takes, in bytes: some six times a
	// generation, twenty times a trace of Go 1.21 or older. 0 means 768 MiB for a trace of up to 1 MiB
	// as stored, and 2 KiB more for each byte more, up to 24 GiB and 10 GiB.
	MaxMemory int64

	// Copy, if set, gets the bytes of the trace, uncompressed, as they are read, by the goroutine that
	// calls Open, Next and Rest. Its errors are ignored: a hash has none.
	Copy io.Writer

	headerTimeout, idleTimeout time.Duration // for tests; 0 means the default
}

// Open opens the trace with the given name: a path, "-" for standard input, or an http or https
// URL. The context holds for the life of the Source. Beside a path it looks for the file that
// [Source.Sidecar] returns.
//
// A URL may be one that records while it answers, such as /debug/pprof/trace?seconds=60. So there
// is no limit to the whole request; but the answer must begin within eleven minutes (or a minute
// more than its seconds parameter asks for), and then never pause for two. Redirects must stay with
// http or https, and with https once it was used.
func Open(ctx context.Context, name string, o Options) (*Source, error) {
	s := &Source{name: name, in: &meter{ctx: ctx, progress: o.Progress}, memory: o.MaxMemory, copy: o.Copy}
	var err error
	switch {
	case name == "":
		return nil, errors.New("opening trace: no name given")
	case name == "-":
		err = s.openStdin(ctx, o)
	case isURL(name):
		err = s.openURL(ctx, o)
	default:
		err = s.openFile(ctx)
	}
	if err == nil {
		err = s.start()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) openFile(ctx context.Context) error {
	f, err := files.Open(ctx, s.name)
	if err != nil {
		err = withoutPath(err)
		if shown := ShownName(s.name); shown != s.name || hostPort.MatchString(s.name) {
			s.name, err = shown, fmt.Errorf("%w: a URL begins with http:// or https://", err)
		}
		return s.fail("opening", err)
	}
	s.closers = append(s.closers, f)
	st, err := f.Stat()
	if err != nil {
		return s.fail("opening", withoutPath(err))
	}
	if st.IsDir() {
		return s.fail("opening", fault{errors.New("it is a directory: name a trace file in it"), ErrNotTrace})
	}
	s.in.r = f
	if !st.Mode().IsRegular() {
		return nil
	}
	s.in.total = st.Size()
	meta, err := sidecar.Read(ctx, s.name)
	if conflict := (*files.Conflict)(nil); errors.As(err, &conflict) {
		return err
	}
	if err != nil {
		s.sidecarBad = fmt.Sprintf("the file %s beside the trace is left out: %v", sidecar.Suffix, withoutPath(err))
	}
	s.sidecar = meta
	return nil
}

func (s *Source) openStdin(ctx context.Context, o Options) error {
	s.name = cmp.Or(o.StdinName, "standard input")
	if o.Stdin == nil {
		return s.fail("opening", errors.New("there is none"))
	}
	s.sidecar = o.Sidecar
	r := files.Reader(ctx, Careful(o.Stdin))
	s.closers = append(s.closers, r)
	s.in.r = r
	return nil
}

// maxEmpty is how many reads in a row may give nothing.
const maxEmpty = 100

// Careful wraps a reader that is not trusted: if r panics, or breaks the contract of io.Reader,
// reading fails.
func Careful(r io.Reader) io.Reader { return &careful{r: r} }

type careful struct {
	r     io.Reader
	empty int   // reads in a row that gave nothing
	err   error // that it failed with
}

func (c *careful) Read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, fmt.Errorf("its reader panicked: %v", v)
		}
		c.err = err
	}()
	switch n, err = c.r.Read(p); {
	case n < 0 || n > len(p):
		return 0, fmt.Errorf("its reader says that it read %d bytes of %d", n, len(p))
	case n > 0 || err != nil || len(p) == 0:
		c.empty = 0
	default:
		if c.empty++; c.empty >= maxEmpty {
			return 0, io.ErrNoProgress
		}
	}
	return n, err
}

// withoutPath unwraps an error that repeats the path.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// isURL reports whether a name is meant as a URL and not as a path.
func isURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && len(scheme) >= 2 && !strings.ContainsFunc(scheme, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
	})
}
