// Package supervisor starts a service as a child process and waits until the
// service says that it is ready.
package supervisor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Service describes what to start.
type Service struct {
	Path         string
	Args         []string
	Env          []string
	ReadyTimeout time.Duration
}

// Handle is a running service.
type Handle struct {
	cmd   *exec.Cmd
	stdin io.Closer
	Took  time.Duration // until it was ready
}

// Start runs the service and returns when it printed READY. A service that
// does not do so within ReadyTimeout is killed.
func (s Service) Start() (*Handle, error) {
	begin := time.Now()
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Env = append(os.Environ(), s.Env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("supervisor: start: %w", err)
	}
	ready := make(chan error, 1)
	go func() {
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			if sc.Text() == "READY" {
				ready <- nil
				return
			}
		}
		ready <- fmt.Errorf("supervisor: service ended before it was ready")
	}()
	h := &Handle{cmd: cmd, stdin: in}
	select {
	case err = <-ready:
	case <-time.After(s.ReadyTimeout):
		err = fmt.Errorf("supervisor: service not ready after %v", s.ReadyTimeout)
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, err
	}
	h.Took = time.Since(begin)
	return h, nil
}

// Stop closes the service's input, which asks it to end, and waits.
func (h *Handle) Stop() error {
	h.stdin.Close()
	return h.cmd.Wait()
}

// Serve is the service's side: it sets itself up, says READY and lives as
// long as its input is open.
func Serve(in io.Reader, out io.Writer, setup func() error) error {
	if err := setup(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "READY"); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}
