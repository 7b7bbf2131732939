package work

// maxSubTests bounds the sub-tests that are kept.
const maxSubTests = 1 << 16

// subTest is a wait of a test for one of its sub-tests. A test may last much longer than paths look
// back: then its sub-tests are what is known of it.
type subTest struct {
	begin, end  int64 // ns
	class, site int32
}

// keepSubTest keeps a sub-test of a goroutine.
func (a *Accumulator) keepSubTest(g int64, s subTest) {
	if a.keptSubTests < maxSubTests {
		a.keptSubTests++
		a.subTests[g] = append(a.subTests[g], s)
	}
}

// dropSubTests drops those of a goroutine, which has ended.
func (a *Accumulator) dropSubTests(g int64) {
	if n := len(a.subTests[g]); n > 0 {
		a.keptSubTests -= n
		delete(a.subTests, g)
	}
}
