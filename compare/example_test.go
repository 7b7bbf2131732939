package compare_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
)

// Five traces from before a change are held against five from after it: a queue got a
// bound.
func Example() {
	side := func(name string) (results []*analyze.Result) {
		for i := range 5 {
			file := fmt.Sprintf("../testdata/traces/pairs/queue-bounded-%s-%d.trace.gz", name, i)
			res, err := analyze.File(context.Background(), file, analyze.Options{})
			if err != nil {
				log.Fatal(err)
			}
			results = append(results, res)
		}
		return results
	}
	c, err := compare.Compare(side("before"), side("after"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Verdict)
	for _, m := range c.Metrics {
		if m.Significant {
			fmt.Printf("%s: less is better, and it got less: %t\n", m.Name, m.After.Value < m.Before.Value)
		}
	}
	// Output:
	// better
	// held_share: less is better, and it got less: true
}
