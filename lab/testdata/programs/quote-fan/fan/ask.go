// Package fan asks many at once, and takes what comes in time.
package fan

import (
	"context"
	"sync"
)

// Ask asks all, and returns the answers that came before the context ended,
// and how many did not.
func Ask[T any](ctx context.Context, all []func(context.Context) (T, error)) (answers []T, late int) {
	var open sync.WaitGroup
	var mu sync.Mutex
	for _, ask := range all {
		open.Go(func() {
			answer, err := ask(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				late++
				return
			}
			answers = append(answers, answer)
		})
	}
	open.Wait()
	return answers, late
}
