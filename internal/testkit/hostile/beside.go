package hostile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Beside is a hostile input that is no trace.
type Beside struct {
	Name string // of its file; its end is ".sum" for summaries, ".zst" for records of the kernel
	What string // one line: why it is hard
	make func(w io.Writer, size Size)
}

// Besides returns all inputs besides traces that are made to cost much.
func Besides() []Beside {
	kernel := func(us func(i int) int) func(io.Writer, Size) {
		return func(w io.Writer, size Size) {
			const line = "a-1 (1) [000] d..2. %d.%06d: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n"
			for i := range size.Unpacked / (len(line) + 8) {
				at := us(i)
				fmt.Fprintf(w, line, at/1_000_000, at%1_000_000)
			}
		}
	}
	return []Beside{
		{"summaries.sum", "summaries of traces that say next to nothing", func(w io.Writer, size Size) {
			n := size.Stored / 10
			fmt.Fprintln(w, `{"gmpscope_summaries":1}`)
			for i := range n {
				fmt.Fprintf(w, `{"key":"%064x","sources":[{"name":"t"}]}`+"\n", i)
			}
			fmt.Fprintf(w, `{"records":%d}`+"\n", n)
		}},
		{"kernel-at-once.zst", "switches at one time", kernel(func(int) int { return 1000 })},
		{"kernel-late.zst", "switches that come late", kernel(func(i int) int { return max(0, 5000-i) * 1000 })},
		{"kernel-none.zst", "lines that are no records, behind one", func(w io.Writer, size Size) {
			kernel(func(int) int { return 1000 })(w, Size{Unpacked: 200})
			for range size.Unpacked / 2 {
				io.WriteString(w, "x\n")
			}
		}},
	}
}

// Write writes the input, compressed.
func (in Beside) Write(to io.Writer, size Size) error {
	var packed io.WriteCloser = gzip.NewWriter(to)
	if in.Name[len(in.Name)-4:] == ".zst" {
		var err error
		if packed, err = zstd.NewWriter(to); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(packed)
	in.make(w, size)
	return errors.Join(w.Flush(), packed.Close())
}
