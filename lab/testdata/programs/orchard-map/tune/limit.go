// Package tune fits the process to its container.
package tune

import "runtime/debug"

// ForContainer sets the memory limit to 9/10 of what the container may use.
func ForContainer(bytes int64) { debug.SetMemoryLimit(bytes / 10 * 9) }
