package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAction holds action.yml against scripts/action: every input is there and reaches
// the script, and none is put into a command line, where it would be shell code.
func TestAction(t *testing.T) {
	root := filepath.Join("..", "..")
	action, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "scripts", "action"))
	if err != nil {
		t.Fatal(err)
	}
	inputs, _, _ := strings.Cut(string(action), "\noutputs:")
	set := map[string]bool{}
	for _, m := range regexp.MustCompile(`(GMPSCOPE_\w+): \$\{\{ inputs\.([\w-]+) \}\}`).FindAllStringSubmatch(string(action), -1) {
		set[m[1]] = true
		if !strings.Contains(inputs, "\n  "+m[2]+":\n") {
			t.Errorf("there is no input %s", m[2])
		}
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$(GMPSCOPE_\w+)`).FindAllStringSubmatch(string(script), -1) {
		used[m[1]] = true
		if !set[m[1]] {
			t.Errorf("the script uses %s, which action.yml does not set", m[1])
		}
	}
	declared := regexp.MustCompile(`(?m)^  [\w-]+:$`).FindAllString(inputs[strings.Index(inputs, "\ninputs:"):], -1)
	if len(declared) != len(set) || len(set) != len(used) {
		t.Errorf("%d inputs, of which %d are set and %d used", len(declared), len(set), len(used))
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+run: .*\$\{\{.*$`).FindAllString(string(action), -1) {
		t.Errorf("an expression in a command:%s", m)
	}
	for _, m := range regexp.MustCompile(`steps\.judge\.outputs\.(\w+)`).FindAllStringSubmatch(string(action), -1) {
		if !strings.Contains(string(script), `echo "`+m[1]+"=") {
			t.Errorf("the script has no output %s", m[1])
		}
	}
}
