package rpc

import (
	"net"
	"sync"
)

// A Client makes calls, many at a time.
type Client struct {
	conn net.Conn
	mu   sync.Mutex
	last uint32
	open map[uint32]chan []byte
}

func Dial(addr string) (*Client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, open: make(map[uint32]chan []byte)}
	go c.receive()
	return c, nil
}

func (c *Client) Close() error { return c.conn.Close() }

// Call returns the answer.
func (c *Client) Call(body []byte) []byte {
	answer := make(chan []byte, 1)
	c.mu.Lock()
	c.last++
	c.open[c.last] = answer
	err := writeFrame(c.conn, frame{c.last, body})
	c.mu.Unlock()
	if err != nil {
		return nil
	}
	return <-answer
}

func (c *Client) receive() {
	for {
		f, err := readFrame(c.conn)
		if err != nil {
			return
		}
		c.mu.Lock()
		answer := c.open[f.call]
		delete(c.open, f.call)
		c.mu.Unlock()
		answer <- f.body
	}
}
