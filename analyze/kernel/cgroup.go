package kernel

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CgroupStat is the cpu.stat of a control group.
type CgroupStat struct {
	Periods     int64 `json:"periods"`      // elapsed periods
	Throttled   int64 `json:"throttled"`    // periods in which the quota was used up
	ThrottledNs int64 `json:"throttled_ns"` // time that threads were throttled, summed over CPUs
}

const maxStat = 64 << 10

// ReadCgroupStat reads the cpu.stat of a control group of version 1 or 2.
func ReadCgroupStat(r io.Reader) (*CgroupStat, error) {
	var s CgroupStat
	found := false
	lines := bufio.NewScanner(io.LimitReader(r, maxStat))
	for n := 1; lines.Scan(); n++ {
		name, value, _ := strings.Cut(lines.Text(), " ")
		var to *int64
		factor := int64(1)
		switch name {
		case "nr_periods":
			to = &s.Periods
		case "nr_throttled":
			to = &s.Throttled
		case "throttled_time": // version 1
			to = &s.ThrottledNs
		case "throttled_usec": // version 2
			to, factor = &s.ThrottledNs, 1000
		default:
			continue
		}
		x, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || x < 0 || x > 1<<53 {
			return nil, fmt.Errorf("line %d: %s is no number", n, name)
		}
		*to, found = x*factor, true
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("no nr_throttled in it: give the cpu.stat of a control group with a CPU quota")
	}
	return &s, nil
}
