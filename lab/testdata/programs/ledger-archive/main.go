// Ledger-archive writes the year's bookings to one large file, through a buffer.
package main

import (
	"bufio"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const bookings = 1_500_000

type countingWriter struct {
	file   *os.File
	writes int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes++
	return w.file.Write(p)
}

type archive struct {
	out *bufio.Writer
	sum hash.Hash32
	row []byte
}

func main() {
	dir, err := os.MkdirTemp("", "ledger")
	check(err)
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "2026.csv"))
	check(err)
	counted := &countingWriter{file: file}
	buffered := bufio.NewWriterSize(counted, 256<<10)
	a := &archive{out: buffered, sum: crc32.NewIEEE()}
	rec.Start()
	start := time.Now()
	for n := range bookings {
		check(a.appendBooking(n))
	}
	check(buffered.Flush())
	took := time.Since(start)
	rec.Stop()
	size, err := file.Seek(0, io.SeekEnd)
	check(err)
	check(file.Close())
	fmt.Fprintf(os.Stderr, "proof: %d bookings, %d MB in %d writes, checksum %08x, in %v\n", bookings, size>>20, counted.writes, a.sum.Sum32(), took)
}

// appendBooking writes the booking as a row, which reuses the memory of the last.
func (a *archive) appendBooking(n int) error {
	row := strconv.AppendInt(a.row[:0], int64(n), 10)
	row = append(row, ",2026-"...)
	row = strconv.AppendInt(row, int64(n/125_000%12+1), 10)
	row = append(row, ",account-"...)
	row = strconv.AppendInt(row, int64(n*7919%4000), 10)
	row = append(row, ',')
	row = strconv.AppendFloat(row, float64(n%10_000)/100, 'f', 2, 64)
	row = append(row, '\n')
	a.row = row
	a.sum.Write(row)
	_, err := a.out.Write(row)
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
