package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBegin makes a detector, which is compiled as if it were beside the others: only its trigger fails.
func TestBegin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new-trouble")
	if err := begin(dir, "new-trouble", "Goroutines have a new trouble"); err != nil {
		t.Fatal(err)
	}
	if err := begin(dir, "new-trouble", ""); err == nil {
		t.Error("it is made again, over what is there")
	}
	d, err := read(dir)
	if err != nil || d.Package != "newtrouble" || d.Field != "NewTrouble" {
		t.Fatalf("%+v, %v", d, err)
	}
	there, err := filepath.Abs(filepath.Join("..", "..", "new-trouble"))
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	for _, name := range []string{"rule.go", "detector_test.go", "testdata/trigger/main.go", "testdata/near-miss/main.go"} {
		overlay[filepath.Join(there, name)] = filepath.Join(dir, name)
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", file, there+"/testdata/trigger", there+"/testdata/near-miss").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	tests := filepath.Join(t.TempDir(), "new.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", tests, there).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(tests).CombinedOutput()
	if err == nil || strings.Count(string(out), "--- FAIL") != 1 || !strings.Contains(string(out), "--- FAIL: TestTrigger") {
		t.Errorf("%v, and only TestTrigger should fail\n%s", err, out)
	}
}
