// Package grpc has the calls of a gRPC server captured that take too long, as
// [capture.Recorder.Slow] has HTTP requests.
//
//	grpc.NewServer(
//		grpc.ChainUnaryInterceptor(capturegrpc.Unary(r, 200*time.Millisecond)),
//		grpc.ChainStreamInterceptor(capturegrpc.Stream(r, time.Minute)),
//	)
package grpc

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gmpscope/gmpscope/capture"
)

// Unary makes each call a task, named by its method, which must be one that the server knows; its trace
// ID is that of the metadata traceparent, which clients can choose. A call that takes longer than
// limit has the trace of the last seconds written. r may be nil: then nothing is.
func Unary(r *capture.Recorder, limit time.Duration) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		ctx, end := begin(ctx, r, info.FullMethod, limit)
		defer end()
		return handler(ctx, req)
	}
}

// Stream is Unary for streams: limit is for all of one.
func Stream(r *capture.Recorder, limit time.Duration) grpc.StreamServerInterceptor {
	return func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		ctx, end := begin(s.Context(), r, info.FullMethod, limit)
		defer end()
		return handler(srv, stream{s, ctx})
	}
}

type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }

func begin(ctx context.Context, r *capture.Recorder, method string, limit time.Duration) (context.Context, func()) {
	id := ""
	if v := metadata.ValueFromIncomingContext(ctx, "traceparent"); len(v) == 1 {
		id = capture.TraceParent(v[0])
	}
	ctx, end := capture.Task(ctx, method, id)
	done := r.OnSlow(ctx, limit)
	return ctx, func() { end(); done() }
}
