// Package catalog keeps stars in memory.
package catalog

import "fmt"

type Star struct {
	Name       string
	Magnitude  float64
	Neighbours []*Star
}

type Catalog struct{ stars []*Star }

func Load(count int) *Catalog {
	c := &Catalog{make([]*Star, count)}
	for n := range c.stars {
		c.stars[n] = &Star{Name: fmt.Sprint("HIP ", n), Magnitude: float64(n%200) / 20}
		for back := 1; back <= 4 && back <= n; back++ {
			c.stars[n].Neighbours = append(c.stars[n].Neighbours, c.stars[n-back])
		}
	}
	return c
}

// Chart returns what is around a star.
func (c *Catalog) Chart(star, width int) []string {
	var names []string
	for n := star; n < star+width; n++ {
		s := c.stars[n%len(c.stars)]
		for _, near := range s.Neighbours {
			names = append(names, fmt.Sprintf("%s %.2f", near.Name, near.Magnitude))
		}
	}
	return names
}
