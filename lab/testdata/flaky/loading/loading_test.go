// Package loading is NVIDIA/aicr#2332: a load that computes runs into its own timeout.
package loading

import (
	"context"
	"hash/crc32"
	"testing"
	"time"
)

func load(ctx context.Context) (uint32, error) {
	sum, page := uint32(0), make([]byte, 1<<16)
	for range 600 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, crc32.MakeTable(0xD5828281), page)
	}
	return sum, nil
}

func TestLoad(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := load(ctx); err != nil {
		t.Fatalf("load packages: %v", err)
	}
}
