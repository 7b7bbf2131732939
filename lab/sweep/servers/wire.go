package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/hashicorp/yamux"
	"github.com/miekg/dns"
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
	"github.com/tidwall/redcon"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

const (
	anyPort = "127.0.0.1:0"
	timeout = time.Minute
)

func withGRPC() (server, error) {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, err
	}
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	go func() { _ = s.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	client := grpc_health_v1.NewHealthClient(conn)
	return func() (func() error, error) {
		return func() error {
			_, err := client.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
			return err
		}, nil
	}, nil
}

func withNATS() (server, error) {
	s, err := natsd.NewServer(&natsd.Options{Host: "127.0.0.1", Port: natsd.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(timeout) {
		return nil, errors.New("the server does not start")
	}
	c, err := nats.Connect(s.ClientURL())
	if err != nil {
		return nil, err
	}
	_, err = c.Subscribe("echo", func(m *nats.Msg) { _ = m.Respond(m.Data) })
	return func() (func() error, error) {
		c, err := nats.Connect(s.ClientURL())
		return func() error {
			_, err := c.Request("echo", []byte("a message"), timeout)
			return err
		}, err
	}, err
}

func withRedis() (server, error) {
	s, err := miniredis.Run()
	if err != nil {
		return nil, err
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), PoolSize: *clients / 4})
	return func() (func() error, error) {
		return func() error { return c.Incr(context.Background(), "counter").Err() }, nil
	}, nil
}

func withRedcon() (server, error) {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, err
	}
	var counter atomic.Int64
	go func() {
		_ = redcon.Serve(listener, func(c redcon.Conn, cmd redcon.Command) {
			if strings.EqualFold(string(cmd.Args[0]), "incr") {
				c.WriteInt64(counter.Add(1))
				return
			}
			c.WriteError("unknown command")
		}, nil, nil)
	}()
	c := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), PoolSize: *clients, Protocol: 2, DisableIdentity: true})
	return func() (func() error, error) {
		return func() error { return c.Incr(context.Background(), "counter").Err() }, nil
	}, nil
}

// withMQTT has clients that each wait for their own messages.
func withMQTT() (server, error) {
	s := mqtt.New(nil)
	if err := s.AddHook(new(auth.AllowHook), nil); err != nil {
		return nil, err
	}
	listener := listeners.NewTCP(listeners.Config{ID: "tcp", Address: anyPort})
	if err := s.AddListener(listener); err != nil {
		return nil, err
	}
	if err := s.Serve(); err != nil {
		return nil, err
	}
	var number atomic.Int64
	return func() (func() error, error) {
		topic := strconv.FormatInt(number.Add(1), 10)
		c := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + listener.Address()).SetClientID(topic))
		if t := c.Connect(); t.Wait() && t.Error() != nil {
			return nil, t.Error()
		}
		came := make(chan bool, 1)
		if t := c.Subscribe(topic, 1, func(paho.Client, paho.Message) { came <- true }); t.Wait() && t.Error() != nil {
			return nil, t.Error()
		}
		return func() error {
			if t := c.Publish(topic, 1, false, "a message"); t.Wait() && t.Error() != nil {
				return t.Error()
			}
			<-came
			return nil
		}, nil
	}, nil
}

func withDNS() (server, error) {
	conn, err := net.ListenPacket("udp", anyPort)
	if err != nil {
		return nil, err
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg).SetReply(q)
		a.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)}}
		_ = w.WriteMsg(a)
	})}
	go func() { _ = s.ActivateAndServe() }()
	c := &dns.Client{Timeout: timeout}
	return func() (func() error, error) {
		return func() error {
			_, _, err := c.Exchange(new(dns.Msg).SetQuestion("example.org.", dns.TypeA), conn.LocalAddr().String())
			return err
		}, nil
	}, nil
}

// withYamux echoes on streams of one connection.
func withYamux() (server, error) {
	near, far := net.Pipe()
	s, err := yamux.Server(far, nil)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	c, err := yamux.Client(near, nil)
	if err != nil {
		return nil, err
	}
	return func() (func() error, error) {
		stream, err := c.Open()
		message := make([]byte, 1000)
		return func() error {
			if _, err := stream.Write(message); err != nil {
				return err
			}
			_, err := io.ReadFull(stream, message)
			return err
		}, err
	}, nil
}
