package grpc

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"github.com/gmpscope/gmpscope/capture"
)

const id = "4bf92f3577b34da6a3ce929d0e0e4736"

// client returns a client of a health server with interceptors.
func client(t *testing.T, o ...grpc.ServerOption) grpc_health_v1.HealthClient {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	s := grpc.NewServer(o...)
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	go s.Serve(l)
	t.Cleanup(s.Stop)
	c, err := grpc.NewClient("passthrough:///", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return grpc_health_v1.NewHealthClient(c)
}

func recorder(t *testing.T) (*capture.Recorder, <-chan capture.Trace) {
	t.Helper()
	written := make(chan capture.Trace, 10)
	r, err := capture.Start(capture.Options{Dir: t.TempDir(), OnCapture: func(c capture.Trace) { written <- c }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r, written
}

// check checks that a trace is about a method, and has the ID.
func check(t *testing.T, c capture.Trace, method string) {
	t.Helper()
	text, err := os.ReadFile(c.File + ".meta.json")
	if err != nil || !strings.Contains(string(text), `"name": "`+method+`"`) || !strings.Contains(string(text), id) {
		t.Errorf("%v: %s", err, text)
	}
	b, err := os.ReadFile(c.File)
	if err != nil || !strings.Contains(string(b), method) || !strings.Contains(string(b), id) {
		t.Errorf("%v: the trace does not have the task of %s", err, method)
	}
}

// Of 200 clients at once, whose calls are all slow, one is captured: the others are within the cooldown.
func TestUnary(t *testing.T) {
	r, written := recorder(t)
	c := client(t, grpc.ChainUnaryInterceptor(Unary(r, 0)))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+id+"-00f067aa0ba902b7-01")
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if _, err := c.Check(ctx, &grpc_health_v1.HealthCheckRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check(t, <-written, "/grpc.health.v1.Health/Check")
	if len(written) != 0 {
		t.Errorf("and %+v", <-written)
	}
}

// A stream is captured when it ends, and its handler sees the context with the task.
func TestStream(t *testing.T) {
	r, written := recorder(t)
	c := client(t, grpc.ChainStreamInterceptor(Stream(r, 0)))
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+id+"-00f067aa0ba902b7-01"))
	s, err := c.Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	check(t, <-written, "/grpc.health.v1.Health/Watch")
}

// Without a recorder, calls go on.
func TestNoRecorder(t *testing.T) {
	c := client(t, grpc.ChainUnaryInterceptor(Unary(nil, time.Nanosecond)))
	if _, err := c.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Error(err)
	}
}
