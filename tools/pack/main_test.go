package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// packed packs programs of a few bytes, and returns what there is then.
func packed(t *testing.T) (dir string, made map[string][]byte) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range map[string]string{
		"gmpscope-linux-amd64": "linux on amd64", "gmpscope-linux-arm": "linux on arm", "gmpscope-darwin-arm64": "macOS", "gmpscope-windows-amd64.exe": "Windows",
		"man/gmpscope.1": "a page", "man/gmpscope-check.1": "another", "gmpscope_0.0.1_linux_amd64.tar.gz": "of a release before",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{dir}, "v1.2.3", 1_750_000_000, filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	made = map[string][]byte{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Type().IsRegular() {
			if made[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, made
}

func TestPack(t *testing.T) {
	dir, made := packed(t)
	want := []string{
		"gmpscope-1.2.3-1.armv7hl.rpm", "gmpscope-1.2.3-1.x86_64.rpm", "gmpscope-darwin-arm64", "gmpscope-linux-amd64", "gmpscope-linux-arm", "gmpscope-oci.tar",
		"gmpscope-windows-amd64.exe", "gmpscope.rb", "gmpscope_0.0.1_linux_amd64.tar.gz", "gmpscope_1.2.3_amd64.deb", "gmpscope_1.2.3_armhf.deb",
		"gmpscope_1.2.3_darwin_arm64.tar.gz", "gmpscope_1.2.3_linux_amd64.tar.gz", "gmpscope_1.2.3_linux_arm.tar.gz", "gmpscope_1.2.3_windows_amd64.zip",
	}
	if got := slices.Sorted(maps.Keys(made)); !slices.Equal(got, want) {
		t.Errorf("made %q, want %q", got, want)
	}
	_, again := packed(t)
	for name := range made {
		if !bytes.Equal(made[name], again[name]) {
			t.Errorf("%s: another time it has other bytes", name)
		}
	}

	z, err := gzip.NewReader(bytes.NewReader(made["gmpscope_1.2.3_linux_amd64.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	files := untar(t, z)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, []string{"LICENSE", "gmpscope", "man/gmpscope-check.1", "man/gmpscope.1"}) || string(files["gmpscope"]) != "linux on amd64" {
		t.Errorf("the archive holds %q", got)
	}
	w, err := zip.NewReader(bytes.NewReader(made["gmpscope_1.2.3_windows_amd64.zip"]), int64(len(made["gmpscope_1.2.3_windows_amd64.zip"])))
	if err != nil || len(w.File) != 4 || w.File[1].Name != "gmpscope.exe" || w.File[1].Mode() != 0o755 {
		t.Errorf("the zip: %v, %v", err, w)
	}
	if b := made["gmpscope_1.2.3_amd64.deb"]; !bytes.HasPrefix(b, []byte("!<arch>\ndebian-binary")) {
		t.Errorf("the deb begins with %.30q", b)
	}
	if b := made["gmpscope-1.2.3-1.x86_64.rpm"]; !bytes.HasPrefix(b, []byte("\xed\xab\xee\xdb")) {
		t.Errorf("the rpm begins with %.30q", b)
	}
	formula := string(made["gmpscope.rb"])
	for _, want := range []string{`version "1.2.3"`, "/releases/download/v1.2.3/gmpscope_1.2.3_darwin_arm64.tar.gz", "/gmpscope_1.2.3_linux_amd64.tar.gz", "on_macos do", `bin.install "gmpscope"`} {
		if !strings.Contains(formula, want) {
			t.Errorf("the formula has no %s:\n%s", want, formula)
		}
	}

	// Nothing to pack is an error.
	if err := run([]string{filepath.Join(dir, "man")}, "v1.2.3", 0, filepath.Join("..", "..")); err == nil || !strings.Contains(err.Error(), "scripts/release") {
		t.Error(err)
	}
}

// TestImage has the image be read by what reads images.
func TestImage(t *testing.T) {
	_, made := packed(t)
	dir := t.TempDir()
	for name, data := range untar(t, bytes.NewReader(made["gmpscope-oci.tar"])) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil || len(m.Manifests) != 1 || m.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatal(m, err)
	}
	platforms, err := index.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = platforms.IndexManifest(); err != nil || len(m.Manifests) != 2 {
		t.Fatal(m, err)
	}
	for _, d := range m.Manifests {
		img, err := platforms.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		c, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if d.Platform == nil || c.Architecture != d.Platform.Architecture || c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/gmpscope"}) {
			t.Errorf("%v: %+v", d.Platform, c)
		}
		layers, err := img.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatal(layers, err)
		}
		r, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		if files := untar(t, r); string(files["gmpscope"]) != "linux on "+c.Architecture {
			t.Errorf("%s: %q", c.Architecture, files)
		}
	}
}

func untar(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
}
