package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

type size int64

// units are what a size can be given in; without one it is in bytes.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

func (s *size) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range units {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x > 0) || x*unit > math.MaxInt64/2 {
		return errors.New("must be a size such as 512MiB or 2GB")
	}
	*s = size(x * unit)
	return nil
}

func (s size) String() string {
	switch {
	case s == 0:
		return ""
	case s%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", s>>20)
	}
	return fmt.Sprintf("%dB", int64(s))
}

// Type names the flag's value in a usage message.
func (s *size) Type() string { return "size" }
