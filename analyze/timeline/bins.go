package timeline

import (
	"math"
	"math/bits"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// A series is a level that changes in steps, summed up per bin: level x ns, and
// the highest level. What it was in the bin of its last change is not in the bins
// yet, so a change within one bin touches none of them.
type series struct {
	sum   []uint64
	peak  []int32
	level int64
	since int64  // the last change
	near  uint64 // level x ns before since, in its bin
	top   int64  // the highest level there
}

// set changes the level at now, which must be in the bin of since.
func (s *series) set(now, level int64) {
	s.near = addProduct(s.near, uint64(s.level), uint64(now-s.since))
	s.since, s.level, s.top = now, level, max(s.top, level)
}

// settle puts what is known of the bin of since into it.
func (s *series) settle(shift uint) {
	if s.near != 0 || s.top != 0 {
		s.add(int(s.since>>shift), s.near, s.top)
		s.near, s.top = 0, 0
	}
}

func (s *series) add(bin int, sum uint64, level int64) {
	total, peak := at(&s.sum, bin), at(&s.peak, bin)
	*total = addProduct(*total, sum, 1)
	*peak = max(*peak, int32(min(level, math.MaxInt32)))
}

// at returns element i of s, which it creates if need be.
func at[S ~[]T, T any](s *S, i int) *T {
	if i >= len(*s) {
		*s = append(*s, make(S, i+1-len(*s))...)
	}
	return &(*s)[i]
}

// flush puts the level that held until now into the bins.
func (s *series) flush(now int64, shift uint) {
	s.settle(shift)
	for from := s.since; s.level != 0 && from < now; {
		bin := int(from >> shift)
		to := min(now, int64(bin+1)<<shift)
		s.add(bin, addProduct(0, uint64(s.level), uint64(to-from)), s.level)
		from = to
	}
	s.since = now
}

// merge makes one bin of each two, which are 2^shift ns wide.
func (s *series) merge(shift uint) {
	s.settle(shift)
	s.sum = histogram.Halve(s.sum, func(x, y uint64) uint64 { return addProduct(x, y, 1) })
	s.peak = histogram.Halve(s.peak, func(x, y int32) int32 { return max(x, y) })
}

// rest gives how many ns of each bin are not in s, a series of 0 and 1, as far as the
// trace covers it.
func (s *series) rest(bins int, shift uint, end int64) []int64 {
	out := make([]int64, bins)
	for i := range out {
		out[i] = covered(i, shift, end)
		if i < len(s.sum) {
			out[i] -= int64(s.sum[i])
		}
	}
	return out
}

// result turns sums into means over the ns of each bin that are recorded.
func (s *series) result(widths []int64) Series {
	return Series{Mean: s.means(widths), Max: s.peaks(len(widths))}
}

func (s *series) means(widths []int64) []float32 {
	mean := make([]float32, len(widths))
	for i := range min(len(mean), len(s.sum)) {
		if w := widths[i]; w > 0 {
			mean[i] = float32(float64(s.sum[i]) / float64(w))
		}
	}
	return mean
}

func (s *series) peaks(bins int) []int32 {
	peak := make([]int32, bins)
	for i, p := range s.peak {
		i = min(i, bins-1) // what happens at end itself may be in a bin of its own
		peak[i] = max(peak[i], p)
	}
	return peak
}

// shares holds how many ns of a bin a P spent in each state but idle.
type shares [columns]uint64

func (s shares) plus(o shares) shares {
	for c := range s {
		s[c] += o[c]
	}
	return s
}

// counter counts something per bin.
type counter []int32

func (c *counter) add(now int64, shift uint) {
	*at(c, int(now>>shift))++
}

func (c counter) result(bins int) []int32 {
	out := make([]int32, bins)
	for i, n := range c {
		out[min(i, bins-1)] += n
	}
	return out
}

// covered is the number of ns of a bin that lie before end.
func covered(bin int, shift uint, end int64) int64 {
	return min(end, int64(bin+1)<<shift) - int64(bin)<<shift
}

// scaled scales parts of the time of each bin, in ns, to 255. It rounds running sums, so that the
// parts of a bin cannot sum to more than 255 and each is off by less than 1.
func scaled(parts, bins int, shift uint, end int64, ns func(part, bin int) uint64) [][]uint8 {
	out := make([][]uint8, parts)
	for i := range out {
		out[i] = make([]uint8, bins)
	}
	for bin := range bins {
		width, sum, before := covered(bin, shift, end), uint64(0), 0
		if width <= 0 {
			continue
		}
		for i := range out {
			sum += ns(i, bin)
			upTo := min(255, int(float64(sum)/float64(width)*255+0.5))
			out[i][bin], before = uint8(upTo-before), upTo
		}
	}
	return out
}

// addProduct adds a x b to sum and stays at the largest number rather than
// wrap, which only a made-up trace can bring about.
func addProduct(sum, a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 || sum+lo < sum {
		return math.MaxUint64
	}
	return sum + lo
}

// spans keeps the longest of a stream of spans, in bounded memory.
type spans struct {
	kept []Span
	open bool
	cur  Span
}

func (s *spans) begin(now int64, name string) {
	if !s.open {
		s.open, s.cur = true, Span{From: now, Name: name}
	}
}

func (s *spans) finish(now int64) {
	if !s.open {
		return
	}
	s.open = false
	s.cur.To = now
	s.kept = append(s.kept, s.cur)
	if len(s.kept) >= 2*maxSpans {
		s.shrink()
	}
}
