// Grpc-rates answers unary calls from a table of rates, which is refreshed meanwhile.
package main

import (
	"context"
	"math/rand/v2"
	"net"
	"net/textproto"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type rates struct {
	mu     sync.RWMutex
	source *textproto.Conn
}

// refresh asks for new rates with the lock held.
func (r *rates) refresh(end time.Time) {
	for time.Now().Before(end) {
		time.Sleep(90 * time.Millisecond)
		r.mu.Lock()
		mark.Check(r.source.PrintfLine("9000"))
		_, err := r.source.ReadLine()
		mark.Check(err)
		r.mu.Unlock()
	}
}

func (r *rates) lookup() float64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	mark.Work(20)
	return 1.08
}

func (r *rates) convert(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	defer mark.Begin("convert").End()
	in := &wrapperspb.DoubleValue{}
	if err := decode(in); err != nil {
		return nil, err
	}
	mark.Work(100)
	return wrapperspb.Double(in.Value * r.lookup()), nil
}

func bank(conn *grpc.ClientConn, end time.Time) {
	for time.Now().Before(end) {
		mark.Check(conn.Invoke(context.Background(), "/rates/Convert", wrapperspb.Double(100), &wrapperspb.DoubleValue{}))
		time.Sleep(time.Duration(3+rand.IntN(6)) * time.Millisecond)
	}
}

func main() {
	r := &rates{source: backend.Dial()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "rates", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{MethodName: "Convert", Handler: r.convert}},
	}, r)
	go server.Serve(listener)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	mark.Check(err)
	conn.Connect()
	mark.Start()
	end := time.Now().Add(time.Second)
	go r.refresh(end)
	var banks sync.WaitGroup
	for range 5 {
		banks.Go(func() { bank(conn, end) })
	}
	banks.Wait()
	mark.Stop()
}
