package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
)

// openBrowser shows a file in the user's browser. It does not wait for it.
func openBrowser(file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	args := []string{"xdg-open", abs}
	switch runtime.GOOS {
	case "darwin":
		args = []string{"open", abs}
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", abs}
	}
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
