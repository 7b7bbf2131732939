module github.com/gmpscope/gmpscope/report/html/echarts/gen

go 1.26.0

require github.com/evanw/esbuild v0.28.2

require (
	github.com/gmpscope/gmpscope v0.0.0
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/gmpscope/gmpscope => ../../../..
