module github.com/gmpscope/gmpscope/live

go 1.26.0

require (
	github.com/gmpscope/gmpscope v0.0.0
	github.com/gmpscope/gmpscope/capture v0.0.0
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/go-echarts/go-echarts/v2 v2.6.7 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/mattn/go-runewidth v0.0.31 // indirect
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
)

replace (
	github.com/gmpscope/gmpscope => ../
	github.com/gmpscope/gmpscope/capture => ../capture
)
