// Package lane passes what was scanned from one goroutine to the next.
package lane

type Scan struct{ Code, Pieces int }

// Batches passes them on in batches of a size.
func Batches(scans []Scan, size int) <-chan []Scan {
	out := make(chan []Scan)
	go func() {
		defer close(out)
		for len(scans) > 0 {
			n := min(size, len(scans))
			out <- scans[:n]
			scans = scans[n:]
		}
	}()
	return out
}

// Priced computes prices.
func Priced(in <-chan []Scan, price func(Scan) int) <-chan []int {
	out := make(chan []int)
	go func() {
		defer close(out)
		for batch := range in {
			cents := make([]int, len(batch))
			for i, s := range batch {
				cents[i] = price(s)
			}
			out <- cents
		}
	}()
	return out
}
