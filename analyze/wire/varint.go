package wire

import "math/bits"

// MaxVarint is the length of the longest varint, in bytes.
const MaxVarint = 10

// Uvarint reads a varint, minimal or not: the runtime pads sizes to ten bytes. It returns the
// number of bytes read, 0 if p is too short, -1 if there are more than 64 bits.
func Uvarint(p []byte) (uint64, int) {
	var x uint64
	for i, b := range p {
		if b < 0x80 {
			if i == MaxVarint-1 && b > 1 {
				return 0, -1
			}
			return x | uint64(b)<<(7*i), i + 1
		}
		if i == MaxVarint-1 {
			return 0, -1
		}
		x |= uint64(b&0x7f) << (7 * i)
	}
	return 0, 0
}

// UvarintLen returns the length of the shortest varint of x, in bytes.
func UvarintLen(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }
