// Grpc-archive streams the entries of an archive. A few segments of it are cold.
package main

import (
	"context"
	"io"
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

const clients = 4

// archive has a connection to the store of cold segments for each client.
type archive struct{ cold chan *textproto.Conn }

// fetch brings a cold segment.
func (a *archive) fetch() {
	c := <-a.cold
	mark.Check(c.PrintfLine("11000"))
	_, err := c.ReadLine()
	mark.Check(err)
	a.cold <- c
}

func (a *archive) read(_ any, stream grpc.ServerStream) error {
	defer mark.Begin("read").End()
	segment := &wrapperspb.Int64Value{}
	if err := stream.RecvMsg(segment); err != nil {
		return err
	}
	if segment.Value%12 == 0 {
		a.fetch()
	}
	for entry := range int64(6) {
		mark.Work(60)
		if err := stream.SendMsg(wrapperspb.Int64(entry)); err != nil {
			return err
		}
	}
	return nil
}

func client(conn *grpc.ClientConn, end time.Time) {
	for time.Now().Before(end) {
		stream, err := conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/archive/Read")
		mark.Check(err)
		mark.Check(stream.SendMsg(wrapperspb.Int64(rand.Int64N(1000))))
		mark.Check(stream.CloseSend())
		for {
			err := stream.RecvMsg(&wrapperspb.Int64Value{})
			if err == io.EOF {
				break
			}
			mark.Check(err)
		}
		time.Sleep(time.Duration(5+rand.IntN(6)) * time.Millisecond)
	}
}

func main() {
	a := &archive{make(chan *textproto.Conn, clients)}
	for range clients {
		a.cold <- backend.Dial()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "archive", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{StreamName: "Read", Handler: a.read, ServerStreams: true}},
	}, a)
	go server.Serve(listener)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	mark.Check(err)
	conn.Connect()
	mark.Start()
	end := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() { client(conn, end) })
	}
	all.Wait()
	mark.Stop()
}
