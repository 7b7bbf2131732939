package fleet

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// bucketBits: an octave has 2^bucketBits buckets, so that a value is known within 6 %, and
// the middle of its bucket is off by 3 % at most.
const bucketBits = 4

// maxBuckets is how many buckets values up to math.MaxInt64 fill.
const maxBuckets = (63-bucketBits)<<bucketBits + 1<<bucketBits

// Histogram counts non-negative values, such as waits in ns, by bucket, smallest first,
// without empty buckets. A value is known within 6 %. The zero value is empty.
type Histogram []Bucket

// Bucket is the number of values of a [Histogram] that lie in one range.
type Bucket struct {
	At    int32 // index of the range: values below 32 have one each, then each power of two has 16
	Count int64 // number of values in it
}

func bucketOf(v int64) int32 { return int32(histogram.Bucket(v, bucketBits)) }

// value returns the middle of a bucket.
func (b Bucket) value() int64 {
	least := histogram.Least(int(b.At), bucketBits)
	return least + (histogram.Least(int(b.At)+1, bucketBits)-least)/2
}

// Add counts the value v n times; negative values count as 0.
func (h *Histogram) Add(v, n int64) { h.Merge(Histogram{{bucketOf(max(0, v)), n}}) }

// Merge adds the counts of another Histogram to those of h.
func (h *Histogram) Merge(o Histogram) {
	if len(o) == 0 {
		return
	}
	a := *h
	out := make(Histogram, 0, len(a)+len(o))
	for len(a) > 0 && len(o) > 0 {
		switch {
		case a[0].At < o[0].At:
			out, a = append(out, a[0]), a[1:]
		case a[0].At > o[0].At:
			out, o = append(out, o[0]), o[1:]
		default:
			out = append(out, Bucket{a[0].At, add(a[0].Count, o[0].Count)})
			a, o = a[1:], o[1:]
		}
	}
	*h = append(append(out, a...), o...)
}

// Total returns the number of values.
func (h Histogram) Total() int64 {
	n := int64(0)
	for _, b := range h {
		n = add(n, b.Count)
	}
	return n
}

// Quantile returns the quantile q, from 0 to 1, of the values, in their unit; 0 if there are
// none.
func (h Histogram) Quantile(q float64) int64 {
	want, n := q*float64(h.Total()), 0.0
	for i, b := range h {
		if n += float64(b.Count); n >= want || i == len(h)-1 {
			return b.value()
		}
	}
	return 0
}

// TimeQuantile returns the quantile q, from 0 to 1, of the values, in their unit, each weighted by
// itself: of waits, each nanosecond counts once, not each wait. It is 0 if there are none.
func (h Histogram) TimeQuantile(q float64) int64 {
	total, sum := 0.0, 0.0
	for _, b := range h {
		total += float64(b.value()) * float64(b.Count)
	}
	for i, b := range h {
		if sum += float64(b.value()) * float64(b.Count); sum >= q*total || i == len(h)-1 {
			return b.value()
		}
	}
	return 0
}

// Deviation returns the median distance of the values from v, in their unit: for v the median,
// the median absolute deviation.
func (h Histogram) Deviation(v int64) int64 {
	var d Histogram
	for _, b := range h {
		distance := b.value() - v
		d.Add(max(distance, -distance), b.Count)
	}
	return d.Quantile(0.5)
}

// MarshalJSON writes a list of bucket, count, bucket, count, …
func (h Histogram) MarshalJSON() ([]byte, error) {
	flat := make([]int64, 0, 2*len(h))
	for _, b := range h {
		flat = append(flat, int64(b.At), b.Count)
	}
	return json.Marshal(flat)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var flat []int64
	if err := json.Unmarshal(b, &flat); err != nil {
		return err
	}
	if len(flat)%2 != 0 || len(flat) > 2*maxBuckets {
		return errors.New("a histogram is not a list of pairs")
	}
	*h = make(Histogram, 0, len(flat)/2)
	last := int64(-1)
	for i := 0; i < len(flat); i += 2 {
		if flat[i] <= last || flat[i] >= maxBuckets || flat[i+1] <= 0 {
			return errors.New("a histogram has buckets that make no sense")
		}
		last = flat[i]
		*h = append(*h, Bucket{int32(flat[i]), flat[i+1]})
	}
	return nil
}

// add adds numbers that are not negative. What is more than fits stays at the most, so
// that sums are the same in any order.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
