module github.com/gmpscope/gmpscope/capture/otel

go 1.25.0

require (
	github.com/gmpscope/gmpscope/capture v0.0.0
	go.opentelemetry.io/otel/trace v1.44.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.opentelemetry.io/otel v1.44.0 // indirect
)

replace github.com/gmpscope/gmpscope/capture => ../
