// Package input answers: which generations does this trace consist of?
//
// It is step 1 of the pipeline: it opens a trace (a file, standard input, or an http(s) URL),
// undoes gzip or zstd, and cuts the bytes into generations by walking batch headers. It decodes
// no event. Each generation comes as a complete input of its own for trace.NewReader, so that the
// steps after this one can decode generations independently and in parallel.
//
// # Memory
//
// One generation is held at a time, plus a window of 1 MiB. A length in the input is checked
// against the limit of the format before it is used, and memory grows only by bytes that were
// really there. That is also why compressed input needs no trust: decompression streams into the
// same window, a generation is limited to 4 GiB, and a stream that unpacks more than 200-fold
// beyond its first 256 MiB is refused (real traces pack 2- to 20-fold).
//
// # Damage
//
// A damaged batch header does not end the trace. The damage is recorded as a [Loss], and the
// walk goes on where the next chain of plausible batch headers begins. See resync.go.
package input
