package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
)

const (
	// variable is in the environment of a child.
	variable = "GMPSCOPE_GUARDED"

	// The child's files after the usual three. Its standard error is a pipe to the
	// parent, for what the runtime says when it ends the program.
	stderrFile = 3
	ordersFile = 4 // a byte for every signal

	// childCodes is added to the exit codes of the child, so that those of the
	// runtime are told from them.
	childCodes = 64
	maxCode    = 63
)

// Run calls work, in a child if something limits the memory of this process, and
// returns its exit code, to exit with. The error says how the child failed.
func Run(signals <-chan os.Signal, work Work) (code int, err error) {
	if os.Getenv(variable) != "" {
		os.Unsetenv(variable)
		syscall.CloseOnExec(stderrFile)
		syscall.CloseOnExec(ordersFile)
		return childCodes + work(orders(os.NewFile(ordersFile, "orders")), os.NewFile(stderrFile, "stderr")), nil
	}
	limit := limit(os.DirFS("/"))
	if limit == "" {
		return work(signals, os.Stderr), nil
	}
	child, send, said, err := start()
	if err != nil {
		return work(signals, os.Stderr), nil // as well as without a guard
	}
	go func() {
		for s := range signals {
			_, _ = send.Write([]byte{byte(s.(syscall.Signal))})
		}
	}()
	_ = child.Wait() // its state says more
	return outcome(child.ProcessState.Sys().(syscall.WaitStatus), said.text, limit)
}

// orders are the signals that the parent had. What a terminal sends to all its
// processes is not taken twice in that way. When the parent is gone, they are such
// as end the program at once.
func orders(from *os.File) <-chan os.Signal {
	signals := make(chan os.Signal)
	go func() {
		for {
			var b [1]byte
			if _, err := from.Read(b[:]); err != nil {
				signals <- syscall.SIGTERM
				signals <- syscall.SIGTERM
				return
			}
			signals <- syscall.Signal(b[0])
		}
	}()
	return signals
}

func start() (child *exec.Cmd, send *os.File, said *head, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	receive, send, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer receive.Close()
	said = new(head)
	child = &exec.Cmd{
		Path: self, Args: os.Args, Env: append(os.Environ(), variable+"=1"),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: said, ExtraFiles: []*os.File{os.Stderr, receive},
	}
	if err := child.Start(); err != nil {
		send.Close()
		return nil, nil, nil, err
	}
	return child, send, said, nil
}

// head keeps the beginning of what is written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	const most = 64 << 10
	h.text = append(h.text, p[:min(len(p), most-len(h.text))]...)
	return len(p), nil
}

// short matches what the runtime says when it lacks memory, also that for a
// thread.
var short = regexp.MustCompile(`out of memory|cannot allocate memory|failed to reserve|failed to create new OS thread|pthread_create failed`)

// outcome reports how the program ends whose child ended so and said that, under a
// limit.
func outcome(status syscall.WaitStatus, said []byte, limit string) (code int, err error) {
	switch {
	case status.Exited() && status.ExitStatus() >= childCodes && status.ExitStatus() <= childCodes+maxCode:
		_, _ = os.Stderr.Write(said)
		return status.ExitStatus() - childCodes, nil
	case short.Match(said):
		return 0, fmt.Errorf("out of memory: %s: raise that, or use a lower --max-memory", limit)
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return 0, fmt.Errorf("killed, as the kernel does when memory runs out: %s: raise that, or use a lower --max-memory", limit)
	case status.Signaled() && len(said) == 0:
		return 128 + int(status.Signal()), nil // as a shell says it
	}
	_, _ = os.Stderr.Write(said)
	return 0, errors.New("the program crashed; the lines above say where: please report them")
}
