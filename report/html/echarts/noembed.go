//go:build nocharts

package echarts

import "embed"

// bundle is empty: the tag nocharts builds a program that gets ECharts, if at all, when it runs.
var bundle embed.FS
