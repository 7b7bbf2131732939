package hostile

import (
	"bytes"
	"errors"
	"testing"
)

// The inputs have the size that is asked for, and are the same each time.
func TestSize(t *testing.T) {
	size := Size{Stored: 128 << 10, Unpacked: 1 << 20}
	for _, in := range append(Inputs(), Small()) {
		var a, b bytes.Buffer
		if err := in.Write(&a, size); err != nil {
			t.Fatal(err)
		}
		if err := in.Write(&b, size); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s is not the same each time", in.Name)
		}
		if a.Len() > size.Stored {
			t.Errorf("%s has %d bytes, %d allowed", in.Name, a.Len(), size.Stored)
		}
	}
}

// The inputs that are no traces have as little as stored, and are the same each time.
func TestBesides(t *testing.T) {
	size := Size{Stored: 128 << 10, Unpacked: 1 << 20}
	for _, in := range Besides() {
		var a, b bytes.Buffer
		if err := errors.Join(in.Write(&a, size), in.Write(&b, size)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) || a.Len() > size.Stored {
			t.Errorf("%s has %d bytes, %d allowed, and is the same each time: %v", in.Name, a.Len(), size.Stored, bytes.Equal(a.Bytes(), b.Bytes()))
		}
	}
}

// What was captured is a trace, and damaged it has another content.
func TestCaptured(t *testing.T) {
	sound, damaged, err := Captured()
	if err != nil {
		t.Fatal(err)
	}
	header := []byte("go 1.")
	if !bytes.HasPrefix(sound, header) || !bytes.HasPrefix(damaged, header) || bytes.HasPrefix(sound, damaged) {
		t.Errorf("%d bytes, and damaged %d", len(sound), len(damaged))
	}
}
