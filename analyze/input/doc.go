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
// beyond its first 256 MiB is refused (real traces pack 2- to 20-fold, one of ours 100-fold).
//
// What decoding a generation takes is estimated while it is read, by its bytes and its batches. One
// that takes more than Options.MaxMemory is left out, which is a [Loss] too; see [Source.Memory]. A
// trace of Go 1.21 or older can only be decoded as a whole: without MaxMemory one of up to 1 MiB as
// stored may unpack to 38 MiB and have 5 million events, in one of 100 MiB both may be all that the
// format's own limits allow.
//
// # Damage
//
// A damaged batch header does not end the trace. The damage is recorded as a [Loss], and the
// walk goes on where the next chain of plausible batch headers begins. See resync.go.
//
// # For other programs
//
// [Open], its [Options], and the methods Header, Name and Close of a [Source] are stable, the rest
// serves this module: see package gmpscope.
package input
