package pipeline

import (
	"bytes"
	"context"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// TestStores runs the job on object stores, which fakes on this machine stand for.
func TestStores(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().(*net.TCPAddr)
	free.Close()
	gcs, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: uint16(addr.Port), PublicHost: addr.String()})
	if err != nil {
		t.Fatal(err)
	}
	defer gcs.Stop()
	gcs.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "traces"})
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(gcs.URL(), "http://"))

	store := s3mem.New()
	if err := store.CreateBucket("traces"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(gofakes3.New(store).Server())
	defer s3.Close()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL_S3": s3.URL, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"} {
		t.Setenv(name, value)
	}

	dir := t.TempDir()
	found, err := filepath.Glob(traces + "/checkout-1.1-*.trace.gz")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, name := range found {
		put(t, filepath.Join(dir, filepath.Base(name)), content(t, name))
	}
	put(t, filepath.Join(dir, "checkout-1.1-3.trace.gz.labels"), []byte("host=h3\n"))
	local := filepath.Join(dir, "local.sum")
	mustExecute(t, Settings{Patterns: []string{dir + "/checkout-*"}, LabelPaths: byPath}, Output{Path: local})
	want := content(t, local)
	for _, scheme := range []string{"gs", "s3"} {
		t.Run(scheme, func(t *testing.T) {
			at := scheme + "://traces/day/"
			for _, name := range found {
				put(t, at+filepath.Base(name), content(t, name))
			}
			put(t, at+"checkout-1.1-3.trace.gz.labels", []byte("host=h3\n"))
			mustExecute(t, Settings{Patterns: []string{at + "checkout-*"}, LabelPaths: byPath}, Output{Path: at + "out.sum"})
			if got := get(t, at+"out.sum"); !bytes.Equal(got, want) {
				t.Error("other records than of local files")
			}
		})
	}
}

func put(t *testing.T, name string, b []byte) {
	t.Helper()
	fs, err := filesystem.New(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	if err := filesystem.Write(t.Context(), fs, name, b); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, name string) []byte {
	t.Helper()
	fs, err := filesystem.New(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	b, err := filesystem.Read(t.Context(), fs, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
