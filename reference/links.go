//go:build !checked

package reference

const countLinks = false
