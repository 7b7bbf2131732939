// Package recount goes through the rows of a warehouse.
package recount

import "sync"

type Row struct{ Bin, Item, Pieces int }

// Each calls f for all rows, at most limit at a time.
func Each(rows []Row, limit int, f func(Row)) {
	slots := make(chan struct{}, limit)
	var open sync.WaitGroup
	for _, row := range rows {
		slots <- struct{}{}
		open.Add(1)
		go func() {
			defer func() {
				<-slots
				open.Done()
			}()
			f(row)
		}()
	}
	open.Wait()
}
