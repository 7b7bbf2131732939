package replay

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// What is done under a mutex is estimated from who was preempted, or asleep, when
// others came to wait for it; and not from who only took it later.
func TestHolds(t *testing.T) {
	frames := func(stack int32) []string {
		switch stack {
		case 1:
			return []string{"sync.(*Mutex).Lock (sync/mutex.go:45)", "main.get (main.go:1)"}
		case 2:
			return []string{"time.Sleep (runtime/time.go:363)", "main.get (main.go:2)"}
		}
		return nil
	}
	type script func(say func(at int64, k reference.Kind, g int64, set func(*reference.Decision)))
	stop := func(why reference.Why, stack int32) func(*reference.Decision) {
		return func(d *reference.Decision) {
			d.Why, d.Stack = why, stack
			if stack == 1 {
				d.Reason = reference.ReasonSync
			}
		}
	}
	by := func(g int64) func(*reference.Decision) { return func(d *reference.Decision) { d.By = g } }
	repeat := func(n int, once func(at int64, say func(at int64, k reference.Kind, g int64, set func(*reference.Decision)))) script {
		return func(say func(at int64, k reference.Kind, g int64, set func(*reference.Decision))) {
			for i := range n {
				once(int64(i)*1000, say)
			}
		}
	}
	for _, c := range []struct {
		name string
		what script
		want int64
		word string
	}{
		{"goroutine 1 is preempted with it in each of its runs, and 2 comes to wait", repeat(4, func(at int64, say func(int64, reference.Kind, int64, func(*reference.Decision))) {
			say(at, reference.KindStart, 1, nil)
			say(at+100, reference.KindStop, 1, stop(reference.WhySlice, 0))
			say(at+100, reference.KindStart, 2, nil)
			say(at+110, reference.KindStop, 2, stop(reference.WhyBlock, 1))
			say(at+110, reference.KindStart, 1, nil)
			say(at+150, reference.KindReady, 2, by(1))
			say(at+150, reference.KindStop, 1, stop(reference.WhyBlock, 0))
			say(at+150, reference.KindStart, 2, nil)
			say(at+160, reference.KindStop, 2, stop(reference.WhyBlock, 0))
		}), 4 * 160, "4 of 4 preemptions"}, // all that both have run
		{"it sleeps with it, twice seen, three times in all", func(say func(at int64, k reference.Kind, g int64, set func(*reference.Decision))) {
			for i := range int64(3) {
				at := 1000 * i
				say(at, reference.KindStart, 1, nil)
				say(at+100, reference.KindStop, 1, stop(reference.WhyBlock, 2))
				if i < 2 {
					say(at+100, reference.KindStart, 2, nil)
					say(at+110, reference.KindStop, 2, stop(reference.WhyBlock, 1))
				}
				say(at+300, reference.KindReady, 1, nil)
				say(at+310, reference.KindStart, 1, nil)
				if i < 2 {
					say(at+320, reference.KindReady, 2, by(1))
				}
				say(at+330, reference.KindStop, 1, stop(reference.WhyBlock, 0))
			}
		}, 3 * 200, "blocked in time.Sleep"},
		{"3 held it when 2 came to wait, and 1 took it after its preemption", repeat(4, func(at int64, say func(int64, reference.Kind, int64, func(*reference.Decision))) {
			say(at, reference.KindStart, 2, nil)
			say(at+10, reference.KindStop, 2, stop(reference.WhyBlock, 1))
			say(at+10, reference.KindStart, 4, nil)
			say(at+12, reference.KindStop, 4, stop(reference.WhyBlock, 1))
			say(at+12, reference.KindStart, 1, nil)
			say(at+20, reference.KindStop, 1, stop(reference.WhySlice, 0))
			say(at+20, reference.KindStart, 3, nil)
			say(at+30, reference.KindReady, 2, by(3))
			say(at+40, reference.KindStop, 3, stop(reference.WhyBlock, 0))
			say(at+50, reference.KindStart, 1, nil)
			say(at+60, reference.KindReady, 4, by(1))
			say(at+70, reference.KindStop, 1, stop(reference.WhyBlock, 0))
		}), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHolds(frames)
			c.what(func(at int64, k reference.Kind, g int64, set func(*reference.Decision)) {
				d := reference.Decision{Time: at, Kind: k, G: g, By: reference.NoG}
				if set != nil {
					set(&d)
				}
				h.add(&d)
			})
			got, notes := h.notes(1 << 40)
			if got != c.want || (len(notes) > 0) != (c.word != "") || c.word != "" && !strings.Contains(notes[0], c.word) {
				t.Errorf("%d ns, %q; want %d, %q", got, notes, c.want, c.word)
			}
			if got, _ := h.notes(100); got > 100 {
				t.Errorf("%d ns of 100 observed", got)
			}
		})
	}
}
