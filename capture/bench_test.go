package capture

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"testing"
	"time"
)

// BenchmarkHTTP is what a request over a connection on loopback costs, client and
// server: without a recorder, with one at rest, and with nothing but the flight
// recorder of the runtime, which tells its cost from this package's. The handler does
// what a small service does: some work, some garbage.
//
//	go test -run - -bench HTTP -count 10 | benchstat -col /recorder -
func BenchmarkHTTP(b *testing.B) {
	for _, mode := range []string{"off", "on", "runtime"} {
		b.Run("recorder="+mode, func(b *testing.B) {
			switch mode {
			case "on":
				r, err := Start(Options{Dir: b.TempDir(), Budget: Budget{Latency: time.Hour}})
				if err != nil {
					b.Fatal(err)
				}
				defer r.Stop()
			case "runtime":
				r := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
				if err := r.Start(); err != nil {
					b.Fatal(err)
				}
				defer r.Stop()
			}
			srv := httptest.NewServer(http.HandlerFunc(serve))
			defer srv.Close()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for pb.Next() {
					resp, err := client.Get(srv.URL)
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
		})
	}
}

// serve answers with a table of 200 rows, which takes some 100 µs to make.
func serve(w http.ResponseWriter, _ *http.Request) {
	rows := make([]string, 0, 200)
	for i := range 200 {
		rows = append(rows, time.Unix(int64(i)*86400, 0).UTC().Format(time.RFC1123Z))
	}
	for _, row := range rows {
		io.WriteString(w, row)
		io.WriteString(w, "\n")
	}
}
