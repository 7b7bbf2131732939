//go:build checked

package reconstruct

func init() { checked = true }
