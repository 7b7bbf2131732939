package analyze

import "errors"

// maxCPUs is the most that Options.CPUs can be.
const maxCPUs = 1e5

// CheckCPUs returns an error unless n can be Options.CPUs, the number of CPUs that a process had on
// average: more than 0 and at most 100,000. The error says so, but not what was rejected.
func CheckCPUs(n float64) error {
	if n > 0 && n <= maxCPUs {
		return nil
	}
	return errors.New("must be more than 0 and at most 100000, such as 4 or 0.5")
}
