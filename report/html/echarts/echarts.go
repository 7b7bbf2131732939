// Package echarts finds the source of Apache ECharts, which the HTML report puts into its page for the
// interactive charts. It is not part of this repository: see the file README.md in the folder bundle.
package echarts

// Version is the version of ECharts that the report is made for.
const Version = "6.1.0"

// bundleName is the file that the generator writes.
const bundleName = "echarts-" + Version + ".bundle.js"

// Embedded returns the bundle that was there when this program was built.
func Embedded() (script []byte, ok bool) {
	script, err := bundle.ReadFile("bundle/" + bundleName)
	return script, err == nil && len(script) > 0
}
