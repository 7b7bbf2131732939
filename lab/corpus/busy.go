package corpus

import (
	"context"
	"flag"
	"io"
	"os"
	"os/exec"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/cli"
)

// neighbours starts processes that only compute.
func neighbours(ctx context.Context, n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, stop = context.WithCancel(ctx)
	for range n {
		c := exec.CommandContext(ctx, self, "busy")
		c.Env = append(os.Environ(), "GOMAXPROCS=1")
		if err := c.Start(); err != nil {
			stop()
			return nil, err
		}
		go c.Wait()
	}
	return stop, nil
}

// busy is such a process.
func busy(*flag.FlagSet) cli.Do {
	return func(context.Context, []string, io.Writer) error {
		for x := uint64(0); ; x += rec.Work(1000) {
		}
	}
}
