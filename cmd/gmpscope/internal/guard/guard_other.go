//go:build !linux

package guard

import "os"

// Run calls work.
func Run(signals <-chan os.Signal, work Work) (code int, err error) {
	return work(signals, os.Stderr), nil
}
