package work

import (
	"cmp"
	"slices"
)

// Bounds of what is known of resources.
const (
	maxResources = 256
	maxHolders   = 8  // classes; of further ones it is not known how long they hold it
	fewWaits     = 20 // below which nothing is said about a resource
)

// resource is what goroutines stand in line for at a site: a lock, or one of several places, as
// in a pool. Paths show one holder; here it is all of them, for as long as there is a line.
type resource struct {
	site         int32
	as           activity
	waiting      int32 // goroutines
	since        int64 // there is a line
	lineNs       int64 // there was one
	waits, ns    int64
	handed, from int64 // waits that were ended by one that had waited there; by anyone
	holders      [maxHolders]holder
}

// holder is a class that holds a resource.
type holder struct {
	class int32
	n, ns int64
}

// resource returns what goroutines wait for at a site; nil if it is none, or there are too many.
func (a *Accumulator) resource(site int32, as activity) *resource {
	if as != onLock && as != onSelect && as != onChannel || site == 0 {
		return nil
	}
	a.resourceAt = grown(a.resourceAt, int(site)+1)
	at := &a.resourceAt[site]
	if *at == 0 && len(a.resources) < maxResources {
		a.resources = append(a.resources, resource{site: site, as: as})
		*at = int32(len(a.resources))
	}
	if *at == 0 || a.resources[*at-1].as != as {
		return nil
	}
	return &a.resources[*at-1]
}

// queueUp has a life stand in line.
func (a *Accumulator) queueUp(l *life) {
	if r := a.resource(l.site, l.doing); r != nil {
		if r.waiting == 0 {
			r.since = a.now
		}
		r.waiting++
	}
}

// handOver has life by, or 0, let a life go on that stood in line.
func (a *Accumulator) handOver(l *life, by int32) {
	r := a.resource(l.site, l.doing)
	if r == nil || r.waiting == 0 {
		return
	}
	if r.waits, r.ns = r.waits+1, r.ns+a.now-l.since; by != 0 {
		a.held(r, a.lives.At(by))
	}
	if r.waiting--; r.waiting == 0 {
		r.lineNs += a.now - r.since
	}
}

// held counts how long a life held a resource that it gives up, as far as there was a line: since
// it waited for it itself, or its unit began.
func (a *Accumulator) held(r *resource, w *life) {
	r.from++
	from := int64(-1)
	if x := a.ring.at(w.waitedAt(r.site, r.as)); x != nil {
		r.handed++
		from = x.end
	}
	if w.unit.is {
		from = max(from, w.unit.from.at)
	}
	if from < 0 {
		return
	}
	for i := range r.holders {
		h := &r.holders[i]
		if h.n == 0 {
			h.class = w.class
		}
		if h.class == w.class {
			h.n++
			h.ns += max(0, a.now-max(from, r.since))
			return
		}
	}
}

// shared returns the resources that goroutines pass on to each other, those waited for longest
// first.
func (a *Accumulator) shared(n Names) (out []Resource) {
	for i := range a.resources {
		r := &a.resources[i]
		if r.waiting > 0 {
			r.lineNs += a.now - r.since
		}
		if r.waits < fewWaits || 2*r.handed < r.from || r.lineNs == 0 {
			continue
		}
		x := Resource{Site: n.Function(a.places.functions[r.site]), What: activities[r.as], Waits: r.waits, WaitNs: r.ns, LineNs: r.lineNs, Holders: []Holder{}}
		for _, h := range r.holders {
			if h.n > 0 {
				x.Holders = append(x.Holders, Holder{a.actor(h.class, n), h.n, h.ns})
				x.Places += float64(h.ns) / float64(r.lineNs)
			}
		}
		slices.SortStableFunc(x.Holders, func(x, y Holder) int { return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Who, y.Who)) })
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(x, y Resource) int { return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(x.Site, y.Site)) })
	return out[:min(len(out), mostResources)]
}
