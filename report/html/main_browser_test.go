//go:build browser

package html

import (
	"os"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }
