package drain

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestShutdownFinishesAcceptedImages(t *testing.T) {
	p := NewPool(4)
	for i := range 16 {
		img := Image{Name: fmt.Sprintf("img-%02d.png", i), Pix: make([]byte, 64<<10)}
		if err := p.Submit(img); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Fatalf("Shutdown: %v (%d of 16 images rendered)", err, p.Rendered())
	}
	if n := p.Rendered(); n != 16 {
		t.Fatalf("rendered %d images, want 16", n)
	}
}
