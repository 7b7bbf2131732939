package tracetest

import "os"

// Long reports whether tests are to take all of their corpora and random inputs, which the
// environment asks for by GMPSCOPE_LONG=1. Else they take a sample.
func Long() bool { return os.Getenv("GMPSCOPE_LONG") == "1" }
