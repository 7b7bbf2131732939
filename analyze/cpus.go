package analyze

import "errors"

// maxCPUs is the most that Options.CPUs can be.
const maxCPUs = 1e5

// CheckCPUs returns an error unless n is a possible number of CPUs of a process.
func CheckCPUs(n float64) error {
	if n > 0 && n <= maxCPUs {
		return nil
	}
	return errors.New("must be more than 0 and at most 100000, such as 4 or 0.5")
}
