// Package weave turns drawings into what a loom does.
package weave

// A Pattern is the threads that are lifted, row by row.
type Pattern struct {
	width, height int
	drawing       []uint8
	Lifts         []uint64
}

func Draw(width, height, seed int) *Pattern {
	p := &Pattern{width: width, height: height, drawing: make([]uint8, width*height)}
	for i := range p.drawing {
		p.drawing[i] = uint8(i * seed >> 3)
	}
	return p
}

// Compile finds the lifts of each row that leave the shortest floats.
func (p *Pattern) Compile() {
	p.Lifts = p.Lifts[:0]
	for y := range p.height {
		row := p.drawing[y*p.width : (y+1)*p.width]
		best, lifts := 1<<62, uint64(0)
		for mask := uint64(1); mask < 1<<13; mask += 2 {
			floats, run := 0, 0
			for x, colour := range row {
				if uint64(colour)>>(x&7)&1 == mask>>(x%13)&1 {
					run++
				} else {
					floats += run * run
					run = 0
				}
			}
			if floats < best {
				best, lifts = floats, mask
			}
		}
		p.Lifts = append(p.Lifts, lifts)
	}
}
