package fairness

import "github.com/gmpscope/gmpscope/analyze/histogram"

// service is the slowdown of the activations whose run interval falls into one
// bucket.
type service struct {
	n        int64
	sum, max float64
}

func (x *service) add(slowdown float64) {
	x.n++
	x.sum += slowdown
	if slowdown > x.max {
		x.max = slowdown
	}
}

func (x *service) mean() float64 { return x.sum / float64(x.n) }

// services has two bits below the leading one of the run interval, ns: buckets
// are a quarter of an octave's lower end wide.
const (
	serviceBits = 2
	services    = (64 - serviceBits) << serviceBits
)

// deciles cuts the buckets into at most ten groups with about as many
// activations each; a bucket is never split.
func deciles(b *[services]service) []Decile {
	var total int64
	for i := range b {
		total += b[i].n
	}
	out := []Decile{}
	var seen int64
	var d Decile
	var sum float64
	for i := range b {
		if b[i].n == 0 {
			continue
		}
		if d.N == 0 {
			d.FromNs = histogram.Least(i, serviceBits)
		}
		d.N += b[i].n
		sum += b[i].sum
		d.Max = max(d.Max, b[i].max)
		seen += b[i].n
		d.ToNs = histogram.Least(i+1, serviceBits)
		if seen == total || seen*10 >= int64(len(out)+1)*total {
			d.Mean = sum / float64(d.N)
			out = append(out, d)
			d, sum = Decile{}, 0
		}
	}
	return out
}
