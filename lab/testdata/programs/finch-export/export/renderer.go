// Package export renders pages of a bird atlas.
package export

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

type Sighting struct {
	Ring  string
	Place *Place
	Next  *Sighting
}

type Place struct{ Lat, Lon float64 }

type Atlas struct{ ByRing map[string]*Sighting }

// A Renderer renders sightings as a table.
type Renderer struct{ atlas *Atlas }

func NewRenderer(a *Atlas) *Renderer { return &Renderer{a} }

// Page renders the sightings of a range of rings.
func (r *Renderer) Page(first, count int) uint32 {
	var page bytes.Buffer
	for ring := range count {
		for s := r.atlas.ByRing[fmt.Sprint("ring ", first+ring)]; s != nil; s = s.Next {
			page.WriteString(r.row(s))
		}
	}
	return crc32.ChecksumIEEE(page.Bytes())
}

func (r *Renderer) row(s *Sighting) string {
	return fmt.Sprintf("<tr><td>%s</td><td>%.4f</td><td>%.4f</td></tr>\n", s.Ring, s.Place.Lat, s.Place.Lon)
}
