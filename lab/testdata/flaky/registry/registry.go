// Package registry maps file extensions to codecs. Like image or database/sql
// it has one table for the whole program.
package registry

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
)

// Codec encodes bytes as text.
type Codec interface {
	Name() string
	Encode([]byte) string
}

type hexCodec struct{}

func (hexCodec) Name() string           { return "hex" }
func (hexCodec) Encode(b []byte) string { return hex.EncodeToString(b) }

type b64Codec struct{}

func (b64Codec) Name() string           { return "base64" }
func (b64Codec) Encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// Built-in codecs.
var (
	Hex    Codec = hexCodec{}
	Base64 Codec = b64Codec{}
)

// ErrUnknown is returned for extensions without a codec and no default.
var ErrUnknown = errors.New("registry: unknown extension")

var (
	mu       sync.RWMutex
	codecs   = map[string]Codec{".hex": Hex, ".b64": Base64}
	fallback Codec
)

// Register sets the codec of an extension.
func Register(ext string, c Codec) {
	mu.Lock()
	defer mu.Unlock()
	codecs[strings.ToLower(ext)] = c
}

// SetDefault sets the codec for all other extensions.
func SetDefault(c Codec) {
	mu.Lock()
	defer mu.Unlock()
	fallback = c
}

// For returns the codec of a file.
func For(file string) (Codec, error) {
	mu.RLock()
	defer mu.RUnlock()
	ext := strings.ToLower(path.Ext(file))
	if c, ok := codecs[ext]; ok {
		return c, nil
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, ext)
}
