//go:build browser

package html

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserHeap reads the garbage collections and the heap above the Ps, with the pointer
// and by keys.
func TestBrowserHeap(t *testing.T) {
	doc := fakeDoc(4, 300)
	r := &doc.Result.Timeline
	r.Heap.Alloc[10], r.Heap.Goal[10] = 77<<20, 99<<20
	file := writePage(t, doc, Options{})
	p := browsertest.Start(t).Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	for i, v := range []browsertest.View{{Width: 1280, Height: 900}, {Width: 390, Height: 800, Dark: true}} {
		look(p, v)
		hover := func(at int64) string {
			return browsertest.Eval[string](p, `(t => {
				const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect();
				c.dispatchEvent(new PointerEvent("pointermove", { clientX: r.left + 52 + (r.width - 62) * t / gms.view.end, clientY: r.top + 30, pointerId: 1 }));
				return document.getElementById("tl-tip").textContent;
			})(`+itoa(at)+`)`)
		}
		if got := plainSpaces(hover(10*r.Heap.BinNs + r.Heap.BinNs/2)); !strings.Contains(got, "Heap: up to 77 MiB") || !strings.Contains(got, "Heap goal: 99 MiB") || !strings.Contains(got, "Sweeping: 20 % of one P") {
			t.Errorf("heap: %q", got)
		}
		if got := hover((r.GC[1].From + r.GC[1].To) / 2); !strings.Contains(plainSpaces(got), "Mark phase: 90 ms") {
			t.Errorf("mark phase: %q", got)
		}
		p.Focus("#tl-canvas")
		for k := range 2 {
			want := fmt.Sprintf("%d of 5", 1+2*i+k)
			p.Type("g")
			got := plainSpaces(text(p, "#tl-details"))
			if !strings.Contains(got, "Garbage collection") || !strings.Contains(got, want) || !strings.Contains(got, "GC sweep termination") || !strings.Contains(got, "Heap at its begin") {
				t.Errorf("details: %q, want %q", got, want)
			}
		}
		p.Screenshot("heap-"+itoa(int64(v.Width)), false)
		if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); w > 0 {
			t.Errorf("the page is %d px wider than the window", w)
		}
		p.Type("0") // the whole trace again
	}
	p.Check()
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
