package sim_test

import (
	"context"
	"fmt"

	"github.com/gmpscope/gmpscope/reference/sim"
)

// A goroutine starts 100 others and waits for them, on 4 Ps.
func Example() {
	done := sim.NewChan(sim.Unlimited)
	var steps []sim.Op
	for range 100 {
		steps = append(steps, sim.Go(1, sim.Steps(sim.Run(1_000_000), sim.Send(done))))
	}
	for range 100 {
		steps = append(steps, sim.Recv(done))
	}
	for _, name := range []string{"go1.26", "no-steal"} {
		policy, costs, _ := sim.PolicyFor(name)
		r, err := sim.Simulate(context.Background(), sim.Options{Policy: policy, Costs: costs, Procs: 4}, sim.Start(sim.Steps(steps...)))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.1f ms, %d starts, %.0f %% used\n", name, float64(r.EndNs)/1e6, r.TotalStarts(), 100*r.Utilisation())
	}
	// Output:
	// go1.26: 25.1 ms, 201 starts, 100 % used
	// no-steal: 100.1 ms, 201 starts, 25 % used
}
