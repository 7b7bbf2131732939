module github.com/gmpscope/gmpscope/capture

go 1.25
