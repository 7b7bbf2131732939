package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// Bounds of what is held in memory of a file: rows that are collected for one call, rows of
// a group, and bytes of a dictionary, beyond which a column is written without.
const (
	rowsAtOnce    = 1 << 10
	rowsOfGroup   = 1 << 16
	dictionaryMax = 1 << 20
)

// table writes the rows of a file, up to the first error.
type table[Row any] struct {
	w    *parquet.GenericWriter[Row]
	rows []Row
	err  error
}

func newTable[Row any](w io.Writer) *table[Row] {
	return &table[Row]{
		w: parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Snappy),
			parquet.MaxRowsPerRowGroup(rowsOfGroup), parquet.DictionaryMaxBytes(dictionaryMax), parquet.PageBufferSize(64<<10)),
		rows: make([]Row, 0, rowsAtOnce),
	}
}

func (t *table[Row]) add(row *Row) {
	if t.rows = append(t.rows, *row); len(t.rows) == rowsAtOnce {
		t.flush()
	}
}

func (t *table[Row]) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.rows)
	}
	t.rows = t.rows[:0]
}

// close ends the file. It says what it is about.
func (t *table[Row]) close(about string) error {
	if t.flush(); t.err != nil {
		return t.err
	}
	t.w.SetKeyValueMetadata("gmpscope", about)
	return t.w.Close()
}
