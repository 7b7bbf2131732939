package live_test

import (
	"log"
	"net/http"

	"github.com/gmpscope/gmpscope/capture"
	"github.com/gmpscope/gmpscope/live"
)

// A server that shows its last seconds where it shows its profiles, to those who may see them.
func ExampleHandler() {
	r, err := capture.Start(capture.Options{})
	if err != nil {
		log.Print(err) // another flight recorder runs: the answers say so
	}
	defer r.Stop()
	debug := http.NewServeMux()
	debug.Handle("/debug/gmpscope/", live.Handler(r, live.Options{Hosts: []string{"checkout.internal"}}))
	debugServer := &http.Server{Addr: "localhost:6060", Handler: debug}
	defer debugServer.Close()
}
