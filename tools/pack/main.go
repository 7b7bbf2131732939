// Command pack makes of the programs that scripts/release has built what people install:
//
//	go run ./tools/pack -version v1.2.3 -epoch 1750000000 -tree CLONE FOLDER
//
// FOLDER holds gmpscope-GOOS-GOARCH and man; it gets
//
//   - an archive for each program: .tar.gz, or .zip for Windows;
//   - a package for each Linux program: .deb and .rpm;
//   - gmpscope-oci.tar: an image for the processors of Linux, in the OCI layout, whose user is not
//     root, and which needs no daemon to be made: skopeo, crane, podman and containerd read it;
//   - gmpscope.rb: a formula for Homebrew.
//
// Equal input gives equal bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	homepage    = "https://github.com/gmpscope/gmpscope"
	description = "Analyses execution traces of Go programs: what the scheduler did, and whether it was good"
)

// release is what is packed.
type release struct {
	folder  string
	version string    // without v
	at      time.Time // of every file
	license []byte
	man     map[string][]byte // by name
	formula []bottle
}

// bottle is an archive that the formula names.
type bottle struct{ os, arch, name, sum string }

// file is a file of an archive.
type file struct {
	name string
	mode int64
	data []byte
}

func main() {
	version := flag.String("version", "v0.0.0", "the `TAG` of the release")
	epoch := flag.Int64("epoch", 0, "the time of all files, in `SECONDS` since 1970")
	tree := flag.String("tree", ".", "the `CLONE`, for its licence")
	flag.Parse()
	if err := run(flag.Args(), *version, *epoch, *tree); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string, version string, epoch int64, tree string) error {
	if len(args) != 1 {
		return errors.New("name the folder with the programs")
	}
	r := &release{folder: args[0], version: strings.TrimPrefix(version, "v"), at: time.Unix(epoch, 0).UTC(), man: map[string][]byte{}}
	var err error
	if r.license, err = os.ReadFile(filepath.Join(tree, "LICENSE")); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(r.folder, "man", "*.1"))
	if err != nil {
		return err
	}
	for _, p := range pages {
		if r.man[filepath.Base(p)], err = os.ReadFile(p); err != nil {
			return err
		}
	}
	programs, err := filepath.Glob(filepath.Join(r.folder, "gmpscope-*-*"))
	if err != nil {
		return err
	}
	var image []mutate.IndexAddendum
	packed := 0
	for _, p := range programs {
		goos, arch, ok := platform(filepath.Base(p))
		if !ok {
			continue // made by a run before
		}
		packed++
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := r.archive(goos, arch, data); err != nil {
			return fmt.Errorf("packing %s: %w", p, err)
		}
		if goos != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.linux(format, arch, p); err != nil {
				return fmt.Errorf("making the %s of %s: %w", format, p, err)
			}
		}
		img, err := r.image(arch, data)
		if err != nil {
			return fmt.Errorf("making the image of %s: %w", p, err)
		}
		image = append(image, *img)
	}
	if packed == 0 {
		return fmt.Errorf("%s holds no gmpscope-GOOS-GOARCH: scripts/release builds them", r.folder)
	}
	if len(image) > 0 {
		if err := r.oci(image); err != nil {
			return fmt.Errorf("writing the image: %w", err)
		}
	}
	return r.brew()
}

// platform returns what a program is for, by its name.
func platform(name string) (goos, arch string, ok bool) {
	parts := strings.Split(strings.TrimSuffix(name, ".exe"), "-")
	if len(parts) != 3 || strings.Contains(parts[2], ".") {
		return "", "", false
	}
	return parts[1], parts[2], slices.Contains([]string{"linux", "darwin", "windows"}, parts[1])
}

// contents are the files of an archive.
func (r *release) contents(program string, data []byte) []file {
	list := []file{{program, 0o755, data}, {"LICENSE", 0o644, r.license}}
	for name, page := range r.man {
		list = append(list, file{"man/" + name, 0o644, page})
	}
	slices.SortFunc(list, func(x, y file) int { return strings.Compare(x.name, y.name) })
	return list
}

func (r *release) archive(goos, arch string, data []byte) error {
	name := fmt.Sprintf("gmpscope_%s_%s_%s", r.version, goos, arch)
	var b bytes.Buffer
	if goos == "windows" {
		name += ".zip"
		z := zip.NewWriter(&b)
		for _, f := range r.contents("gmpscope.exe", data) {
			h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.at}
			h.SetMode(os.FileMode(f.mode))
			w, err := z.CreateHeader(h)
			if err != nil {
				return err
			}
			if _, err := w.Write(f.data); err != nil {
				return err
			}
		}
		if err := z.Close(); err != nil {
			return err
		}
	} else {
		name += ".tar.gz"
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return err
		}
		if err := r.tar(z, r.contents("gmpscope", data)); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		r.formula = append(r.formula, bottle{goos, arch, name, fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))})
	}
	return os.WriteFile(filepath.Join(r.folder, name), b.Bytes(), 0o644)
}

func (r *release) tar(w io.Writer, list []file) error {
	t := tar.NewWriter(w)
	for _, f := range list {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.at, Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// linux makes a package for a distribution.
func (r *release) linux(format, arch, program string) error {
	var packager nfpm.Packager = deb.Default
	if format == "rpm" {
		packager = rpm.DefaultRPM
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "gmpscope", Version: r.version, Arch: cmp.Or(map[string]string{"arm": "arm7"}[arch], arch), Platform: "linux", MTime: r.at,
		Maintainer: "gmpscope <" + homepage + ">", Description: description, Homepage: homepage, License: "MIT", Section: "devel", Priority: "optional",
	})
	info.RPM.BuildHost = "localhost"
	at := func(source, name string, mode os.FileMode) *files.Content {
		return &files.Content{Source: source, Destination: name, FileInfo: &files.ContentFileInfo{Mode: mode, Owner: "root", Group: "root", MTime: r.at}}
	}
	info.Contents = files.Contents{at(program, "/usr/bin/gmpscope", 0o755)}
	for _, page := range sorted(r.man) {
		info.Contents = append(info.Contents, at(filepath.Join(r.folder, "man", page), "/usr/share/man/man1/"+page, 0o644))
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, packager.ConventionalFileName(info)), b.Bytes(), 0o644)
}

func sorted(m map[string][]byte) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// image makes the image for one processor.
func (r *release) image(arch string, program []byte) (*mutate.IndexAddendum, error) {
	var b bytes.Buffer
	// The user has no name in it, and traces are mounted: nothing else is needed.
	if err := r.tar(&b, []file{{"LICENSE", 0o644, r.license}, {"gmpscope", 0o755, program}}); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1), layer)
	if err != nil {
		return nil, err
	}
	p := v1.Platform{OS: "linux", Architecture: arch}
	if arch == "arm" {
		p.Variant = "v7"
	}
	c, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Variant, c.Created = p.OS, p.Architecture, p.Variant, v1.Time{Time: r.at}
	c.Config = v1.Config{
		User: "65532:65532", Entrypoint: []string{"/gmpscope"}, WorkingDir: "/work",
		Labels: map[string]string{"org.opencontainers.image.source": homepage, "org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "MIT"},
	}
	if img, err = mutate.ConfigFile(img, c); err != nil {
		return nil, err
	}
	d, err := partial.Descriptor(img)
	if err != nil {
		return nil, err
	}
	d.Platform = &p
	return &mutate.IndexAddendum{Add: img, Descriptor: *d}, nil
}

// oci writes the image as one file.
func (r *release) oci(images []mutate.IndexAddendum) error {
	dir, err := os.MkdirTemp("", "gmpscope-oci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), images...)
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return err
	}
	var list []file
	if err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		list = append(list, file{filepath.ToSlash(rel), 0o644, data})
		return err
	}); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := r.tar(&b, list); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, "gmpscope-oci.tar"), b.Bytes(), 0o644)
}

// brew writes the formula.
func (r *release) brew() error {
	var b strings.Builder
	fmt.Fprintf(&b, "class Gmpscope < Formula\n  desc %q\n  homepage %q\n  version %q\n  license \"MIT\"\n", "Analyses what the Go scheduler did, from execution traces", homepage, r.version)
	for _, os := range []struct{ goos, block string }{{"darwin", "macos"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", os.block)
		for _, cpu := range []struct{ arch, block string }{{"arm64", "arm"}, {"amd64", "intel"}} {
			for _, a := range r.formula {
				if a.os == os.goos && a.arch == cpu.arch {
					fmt.Fprintf(&b, "    on_%s do\n      url %q\n      sha256 %q\n    end\n", cpu.block, homepage+"/releases/download/v"+path.Join(r.version, a.name), a.sum)
				}
			}
		}
		b.WriteString("  end\n")
	}
	b.WriteString("\n  def install\n    bin.install \"gmpscope\"\n    man1.install Dir[\"man/*.1\"]\n    generate_completions_from_executable(bin/\"gmpscope\", \"completion\")\n  end\n\n")
	b.WriteString("  test do\n    assert_match \"gmpscope\", shell_output(\"#{bin}/gmpscope version\")\n  end\nend\n")
	return os.WriteFile(filepath.Join(r.folder, "gmpscope.rb"), []byte(b.String()), 0o644)
}
