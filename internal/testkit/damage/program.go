package damage

import (
	"math"
	"slices"
)

// maxBytes bounds what a program makes of a trace, roughly.
const maxBytes = 1 << 20

// Hostile are names that would do harm where they are not escaped.
var Hostile = []string{
	"</script><script>window.pwned=1</script>",
	"<img src=x onerror=window.pwned=2>",
	"\x1b]0;pwned\x07\x1b[31mred",
	"a\nb\r\nc\x00d",
	"\u202egnp.exe",
	"\xff\xfe not UTF-8 \xc0",
	"javascript:window.pwned=3",
	"{{.}} ${window.pwned=4} `window.pwned=5`",
	"=cmd|' /C calc'!A0",
	"__f__window.pwned=6__f__",
	"x\n::error title=pwned::%0A::error::pwned",
	"]]></system-out><pwned/>",
	"::add-mask::pwned",
	"##[add-mask]pwned ##vso[task.complete]",
	"\u2028\u2029\u200b\ufeff\u009b31m\u007f\U000e0001",
}

// Apply parses a trace, does to it what the program says, and puts it
// together again. Any bytes are a program: a step is an operation and what it
// is done to, a few bytes; those that are missing are 0.
func Apply(trace, program []byte) []byte {
	p := &steps{b: program}
	t := Parse(trace)
	var last []func([]byte) []byte // what is done to the bytes
	for len(p.b) > 0 {
		if f := p.step(t); f != nil {
			last = append(last, f)
		}
	}
	b := t.bytes(maxBytes)
	for _, f := range last {
		b = f(b)
	}
	return b
}

// steps reads a program.
type steps struct{ b []byte }

func (p *steps) byte() int {
	if len(p.b) == 0 {
		return 0
	}
	x := p.b[0]
	p.b = p.b[1:]
	return int(x)
}

// below reads a number from 0 to n-1.
func (p *steps) below(n int) int { return (p.byte()<<8 | p.byte()) % max(n, 1) }

// numbers are those at which something ends.
var numbers = [...]uint64{
	0, 1, 2, 63, 127, 128, 255, 256, 1_000_000, 1_000_003, math.MaxInt32 - 1, math.MaxInt32, 1 << 31, math.MaxUint32,
	1 << 32, 1 << 40, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64,
}

func (p *steps) number() uint64 { return numbers[p.byte()%len(numbers)] }

// step does one step. What cannot be done to a trace in pieces it returns.
func (p *steps) step(t *Trace) func([]byte) []byte {
	op := p.byte() % 26
	if op >= 22 { // needs no batch
		return p.raw(t, op)
	}
	if len(t.Blocks) == 0 {
		return nil
	}
	i := p.below(len(t.Blocks))
	blk := &t.Blocks[i]
	if op < 9 {
		p.blocks(t, op, i)
		return nil
	}
	if len(blk.Events) == 0 {
		return nil
	}
	p.events(t, op, blk, p.below(len(blk.Events)))
	return nil
}

// blocks does what concerns whole batches.
func (p *steps) blocks(t *Trace, op, i int) {
	blk := &t.Blocks[i]
	switch op {
	case 0: // lost
		t.Blocks = slices.Delete(t.Blocks, i, i+1)
	case 1: // twice
		t.Blocks = slices.Insert(t.Blocks, p.below(len(t.Blocks)), blk.clone())
	case 2: // out of order
		j := p.below(len(t.Blocks))
		t.Blocks[i], t.Blocks[j] = t.Blocks[j], t.Blocks[i]
	case 3: // a generation lost; before Go 1.22 a P's batches
		same := func(b Block) bool { return b.Gen == blk.Gen }
		if t.V1() {
			id := slices.Clone(blk.Events[:min(1, len(blk.Events))])
			same = func(b Block) bool {
				return len(id) > 0 && len(b.Events) > 0 && len(id[0].Args) > 0 && len(b.Events[0].Args) > 0 && b.Events[0].Args[0] == id[0].Args[0]
			}
		}
		t.Blocks = slices.DeleteFunc(t.Blocks, same)
	case 4: // a wrong size
		blk.Size = p.byte() - 128
		if blk.Size == 0 {
			blk.Size = 70_000
		}
	case 5: // time of the batch
		if p.byte()%2 == 0 {
			blk.Time = p.number()
		} else {
			blk.Time += uint64(int64(p.byte()-128) << 12)
		}
	case 6: // generation
		blk.Gen = blk.Gen + uint64(p.byte()%5) - 2
		if p.byte()%8 == 0 {
			blk.Gen = p.number()
		}
	case 7: // thread
		blk.M = p.number()
		if p.byte()%2 == 0 {
			blk.M = t.Blocks[p.below(len(t.Blocks))].M
		}
	case 8: // the trace once more behind itself, as later generations
		var last uint64
		for _, b := range t.Blocks {
			last = max(last, b.Gen)
		}
		if len(t.Blocks) > 3000 || last > 1<<20 {
			return
		}
		for _, b := range slices.Clone(t.Blocks) {
			b = b.clone()
			b.Gen += last
			t.Blocks = append(t.Blocks, b)
		}
	}
}

// events does what concerns event j of a batch.
func (p *steps) events(t *Trace, op int, blk *Block, j int) {
	e := &blk.Events[j]
	arg := func() *uint64 {
		if len(e.Args) == 0 {
			e.Args = append(e.Args, 0)
		}
		return &e.Args[p.byte()%len(e.Args)]
	}
	switch op {
	case 9: // lost
		blk.Events = slices.Delete(blk.Events, j, j+1)
	case 10: // the rest of the batch lost
		blk.Events, blk.Rest = blk.Events[:j], nil
	case 11, 12: // a storm of the same, or of ever new ids
		n := []int{1, 3, 200, 20_000}[p.byte()%4]
		at := p.byte()
		c := make([]Event, n)
		for k := range c {
			c[k] = e.clone()
			if op == 12 && len(e.Args) > 0 {
				c[k].Args[at%len(e.Args)] += uint64(k)
			}
		}
		blk.Events = slices.Insert(blk.Events, j, c...)
	case 13: // out of order
		k := p.below(len(blk.Events))
		blk.Events[j], blk.Events[k] = blk.Events[k], blk.Events[j]
	case 14: // a number at which something ends
		*arg() = p.number()
	case 15: // a little more or less
		*arg() += uint64(p.byte()) - 128
	case 16: // the number of another event: goroutines, Ps and ids used twice
		o := &t.Blocks[p.below(len(t.Blocks))]
		if len(o.Events) > 0 {
			if from := o.Events[p.below(len(o.Events))].Args; len(from) > 0 {
				*arg() = from[p.byte()%len(from)]
			}
		}
	case 17: // another event
		e.Kind = byte(p.byte() % 64)
	case 18: // all that have one number get another, in the whole trace
		k := p.byte() % max(len(e.Args), 1)
		if k >= len(e.Args) {
			return
		}
		from, to := e.Args[k], e.Args[k]+uint64(p.byte())-128
		for x := range t.Blocks {
			for y := range t.Blocks[x].Events {
				if f := &t.Blocks[x].Events[y]; f.Kind == e.Kind && k < len(f.Args) && f.Args[k] == from {
					f.Args[k] = to
				}
			}
		}
	case 19: // numbers longer than they have to be
		e.wide = true
	case 20: // an argument more or less
		if p.byte()%2 == 0 || len(e.Args) == 0 {
			e.Args = append(e.Args, p.number())
		} else {
			e.Args = e.Args[:len(e.Args)-1]
		}
	case 21: // into another batch
		o := p.below(len(t.Blocks))
		c := e.clone()
		t.Blocks[o].Events = slices.Insert(t.Blocks[o].Events, p.below(len(t.Blocks[o].Events)), c)
	}
}

// raw does what concerns names, the header and the bytes.
func (p *steps) raw(t *Trace, op int) func([]byte) []byte {
	at, n := float64(p.byte()<<8|p.byte())/65536, p.byte()
	switch op {
	case 22: // names
		t.Strings(func(string) string { n++; return Hostile[n%len(Hostile)] })
		return nil
	case 23: // another version
		formats := [...]int{11, 19, 21, 22, 23, 25, 26}
		f := formats[n%len(formats)]
		if (f < 22) == t.V1() {
			t.Minor = f
		}
		return nil
	case 24: // the end is missing
		return func(b []byte) []byte { return b[:headerSize+int(at*float64(len(b)-headerSize))] }
	default: // a byte, or some more
		return func(b []byte) []byte {
			i := headerSize + int(at*float64(len(b)-headerSize))
			switch {
			case i >= len(b):
				return b
			case n%3 == 0:
				b[i] ^= byte(n) | 1
				return b
			case n%3 == 1:
				return slices.Delete(b, i, min(len(b), i+n))
			}
			return slices.Insert(b, i, slices.Repeat([]byte{byte(n)}, n)...)
		}
	}
}

func (b Block) clone() Block {
	b.Events = slices.Clone(b.Events)
	for i := range b.Events {
		b.Events[i] = b.Events[i].clone()
	}
	return b
}

func (e Event) clone() Event {
	e.Args = slices.Clone(e.Args)
	return e
}
