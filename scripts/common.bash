# Which packages are tested in which way, and how a script runs its steps: for scripts/test, scripts/demo, scripts/stress
# and .ci/run, which source this.
# shellcheck shell=bash disable=SC2034
test_packages=(./...)
browser_packages=(./cmd/gmpscope ./report/html/...)
# Those that start goroutines.
race_packages=(./analyze ./analyze/events ./analyze/input ./cmd/gmpscope ./fleet ./internal/files ./internal/term ./report/html/echarts)

# Tests need no profile-guided build: with cmd/gmpscope/default.pgo all that the program imports would be compiled, and
# looked at by vet, twice.
GOFLAGS="$(go env GOFLAGS) -pgo=off"
export GOFLAGS

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT

failed=()

# step NAME COMMAND... runs one step in a shell of its own, and prints how long it took. If it fails, the steps after it
# still run; finish lists what failed.
step() {
	local name=$1 status tests TIMEFORMAT
	shift
	printf '\n== %s\n' "$name" >&2
	TIMEFORMAT="-- $name: %0R s, CPU: %0U s in programs, %0S s in the kernel"
	set +e # in a condition, the step's own set -e would have no effect
	time (
		set -e
		"$@"
	) | tee "$scratch/step"
	status=$?
	set -e
	if [ $status -ne 0 ]; then
		tests=$(failures "$scratch/step")
		failed+=("$name: ${tests:-exit code $status}")
	fi
}

# finish ends the script with what failed, or says that all passed.
finish() {
	if [ ${#failed[@]} -gt 0 ]; then
		printf '\n%s: failed after %d s:\n' "$0" "$SECONDS"
		printf '  %s\n' "${failed[@]}"
		exit 1
	fi
	printf '\n%s: all passed in %d s\n' "$0" "$SECONDS"
}

# failures prints what failed in an output of go test, on one line: packages, each with its tests, and its seed if there is one.
failures() {
	awk '
		/^-test\.shuffle / { seed = " -shuffle=" $2; next }
		/^ *--- FAIL: / { tests = tests " " $3; next }
		/^panic: / { tests = tests " (panic)"; next }
		/^WARNING: DATA RACE/ { tests = tests " (race)"; next }
		/^FAIL\t/ { printf "%s%s%s%s", sep, $2, seed, tests; sep = "; "; seed = tests = ""; next }
		/^ok / || /^\?/ { seed = tests = "" }
	' "$1"
}
