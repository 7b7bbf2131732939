package truth

import (
	"fmt"
	"slices"
)

// A Consistency reports whether a recording contradicts itself.
type Consistency struct {
	Moves int // queue operations
	// Broken counts goroutines that were put while queued elsewhere, or taken
	// from where they had not been put.
	Broken int
	// Order counts ring and global queue operations that did not take the head.
	Order int
	// Starts compares the length of the P's queue that the runtime had at a
	// start with that of the replayed queue; Global likewise.
	Local, Global Rate
	Examples      []string
}

func (c Consistency) String() string {
	return fmt.Sprintf("%d queue operations, %d broken, %d out of order, ll replayed %s %%, gl %s %%",
		c.Moves, c.Broken, c.Order, c.Local, c.Global)
}

// inHand is the place of what a thread has taken from one queue and not yet
// run or put into its own.
const inHand = "in hand"

// Where a goroutine is.
type place struct {
	what string // "", toRunnext, toLocal, toGlobal, inHand
	p    int32
}

// Check replays the records. A put is recorded before the goroutine can be seen
// in the queue and a take after it has gone, so the records of one goroutine
// must fit together without exception, and those of the global queue too: they
// are written under its lock. Records of different goroutines in one ring can
// be a little out of order, and so a replayed length can differ now and then.
func Check(recs []Record) Consistency {
	var c Consistency
	at := make(map[int64]place)
	local := make(map[int32]int32)
	var global []int64
	complain := func(i int, format string, args ...any) {
		c.Broken++
		if len(c.Examples) < 10 {
			c.Examples = append(c.Examples, fmt.Sprintf("record %d: ", i)+fmt.Sprintf(format, args...))
		}
	}
	leave := func(i int, r Record, want ...string) {
		c.Moves++
		was := at[r.G]
		if !slices.Contains(want, was.what) {
			complain(i, "%v of G%d on P%d, which was %+v", r.Kind, r.G, r.P, was)
		}
		switch was.what {
		case toRunnext, toLocal:
			local[was.p]--
		case toGlobal:
			// Usually the head, else somewhere inside.
			if k := slices.Index(global, r.G); k >= 0 {
				if k != 0 {
					c.Order++
				}
				global = slices.Delete(global, k, k+1)
			}
		}
		delete(at, r.G)
	}
	for i, r := range recs {
		switch r.Kind {
		case PutRunnext, PutLocal, PutStolen:
			if was, ok := at[r.G]; ok {
				// Moves: runnext → ring, global batch → ring, stolen → thief's ring.
				if r.Kind == PutRunnext || was.what == toLocal || was.what == toRunnext && was.p != r.P {
					complain(i, "%v of G%d on P%d, which was %+v", r.Kind, r.G, r.P, was)
				}
				leave(i, r, was.what)
			} else {
				c.Moves++
			}
			at[r.G] = place{putTarget[r.Kind], r.P}
			local[r.P]++
		case PutGlobal:
			if was, ok := at[r.G]; ok {
				// Overflow, drained or destroyed P.
				if was.what != toLocal && was.what != toRunnext {
					complain(i, "%v of G%d, which was %+v", r.Kind, r.G, was)
				}
				leave(i, r, was.what)
			} else {
				c.Moves++
			}
			at[r.G] = place{toGlobal, none}
			if r.Flag == 1 {
				global = slices.Insert(global, 0, r.G)
			} else {
				global = append(global, r.G)
			}
		case TookRunnext:
			leave(i, r, toRunnext)
		case TookLocal:
			leave(i, r, toLocal)
		case TookGlobal, TookTick:
			leave(i, r, toGlobal)
			// The rest of the batch leaves together with its first.
			for k := uint64(1); k < r.Arg && len(global) > 0; k++ {
				at[global[0]] = place{inHand, none}
				global = global[1:]
			}
		case Grab:
			want := toLocal
			if r.Flag == 1 {
				want = toRunnext
			}
			leave(i, r, want)
			at[r.G] = place{inHand, none}
		case TookSteal:
			leave(i, r, inHand)
		case Start:
			if was, ok := at[r.G]; ok {
				complain(i, "start of G%d on P%d while it was %+v", r.G, r.P, was)
			}
			c.Local.count(local[r.P] == r.LL)
			c.Global.count(int32(len(global)) == r.GL)
		}
	}
	return c
}
