// Package pipe has stages of pipelines.
package pipe

// Map applies f to all that comes.
func Map[A, B any](in <-chan A, f func(A) B) <-chan B {
	out := make(chan B)
	go func() {
		defer close(out)
		for a := range in {
			out <- f(a)
		}
	}()
	return out
}

// Keep passes on what f is true of.
func Keep[A any](in <-chan A, f func(A) bool) <-chan A {
	out := make(chan A)
	go func() {
		defer close(out)
		for a := range in {
			if f(a) {
				out <- a
			}
		}
	}()
	return out
}

// From sends all of some values.
func From[A any](all []A) <-chan A {
	out := make(chan A)
	go func() {
		defer close(out)
		for _, a := range all {
			out <- a
		}
	}()
	return out
}
