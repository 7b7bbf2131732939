package registry

import (
	"errors"
	"testing"
)

func TestBuiltin(t *testing.T) {
	c, err := For("KEY.HEX")
	if err != nil || c.Encode([]byte{1, 255}) != "01ff" {
		t.Fatalf("For(KEY.HEX) = %v, %v", c, err)
	}
}

func TestUnknownExtension(t *testing.T) {
	if c, err := For("notes.txt"); !errors.Is(err, ErrUnknown) {
		t.Fatalf("For(notes.txt) = %v, %v; want %v", c, err, ErrUnknown)
	}
}

func TestDefault(t *testing.T) {
	SetDefault(Base64)
	c, err := For("photo.raw")
	if err != nil || c.Name() != "base64" {
		t.Fatalf("For(photo.raw) = %v, %v", c, err)
	}
}

func TestRegister(t *testing.T) {
	Register(".txt", Hex)
	c, err := For("readme.TXT")
	if err != nil || c.Name() != "hex" {
		t.Fatalf("For(readme.TXT) = %v, %v", c, err)
	}
}
