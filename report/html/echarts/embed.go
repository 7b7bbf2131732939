//go:build !nocharts

package echarts

import "embed"

// The folder always holds a README, so the pattern always matches.
//
//go:embed bundle
var bundle embed.FS
