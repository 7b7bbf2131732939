package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Cache is the path of a folder with files that can be made again. Names are relative to it.
type Cache string

// Get reads a file of at most limit bytes. It follows no link, waits for no named pipe and
// touches no device.
func (c Cache) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	name = filepath.Join(string(c), name)
	f, err := regular(name, os.Lstat)
	if err != nil {
		return nil, err
	}
	in, err := claimed(ctx, name, f)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("%s: more than %d bytes", name, limit)
	}
	return content, nil
}

// Put keeps a file. The folder that it is in is made if need be, and must be one itself:
// through a link, files elsewhere would be replaced.
func (c Cache) Put(ctx context.Context, name string, content []byte) error {
	file := filepath.Join(string(c), name)
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("%s: is no folder itself", dir)
	}
	out, err := CreateIn(ctx, "the cached", dir, filepath.Base(file))
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := out.Write(content); err != nil {
		return err
	}
	return out.Commit()
}
