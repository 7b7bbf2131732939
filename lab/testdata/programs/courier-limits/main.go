// Courier-limits tells a carrier of parcels that left, with no more than 250
// calls a second, as the contract with the carrier says.
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/courier-limits/limit"
)

const (
	parcels = 220
	senders = 10
	period  = 4 * time.Millisecond
)

func main() {
	carrier := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "noted", r.FormValue("parcel"))
	}))
	defer carrier.Close()
	todo := make(chan int, parcels)
	for parcel := range parcels {
		todo <- parcel
	}
	close(todo)
	var told, late atomic.Int64
	rec.Start()
	begin := time.Now()
	bucket := limit.NewBucket(period)
	var open sync.WaitGroup
	for range senders {
		open.Go(func() {
			for parcel := range todo {
				if tell(bucket, carrier.URL, parcel) != nil {
					late.Add(1)
				}
				told.Add(1)
			}
		})
	}
	open.Wait()
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d parcels told in %v, %d failed; the contract allows them in %v\n", told.Load(), took.Round(time.Millisecond), late.Load(), parcels*period)
}

func tell(bucket *limit.Bucket, carrier string, parcel int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := bucket.Wait(ctx); err != nil {
		return err
	}
	answer, err := http.Post(carrier, "application/x-www-form-urlencoded", strings.NewReader(fmt.Sprint("parcel=", parcel)))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
