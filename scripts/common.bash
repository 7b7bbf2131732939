# Which packages are tested in which way, and how a step shows itself: for scripts/test, scripts/stress and .ci/run, which
# source this.
# shellcheck shell=bash disable=SC2034
test_packages=(./...)
browser_packages=(./cmd/gmpscope ./report/html/...)
# Those that start goroutines.
race_packages=(./analyze ./analyze/events ./analyze/input ./cmd/gmpscope ./fleet ./internal/files ./internal/term ./reference/sim ./replay/... ./report/html/echarts)

# Tests need no profile-guided build: with cmd/gmpscope/default.pgo all that the program imports would be compiled, and
# looked at by vet, twice.
GOFLAGS="$(go env GOFLAGS) -pgo=off"
export GOFLAGS

# step names what follows, and says how long what came before it took: seconds, and those of CPU.
step() {
	local file user system
	file=$(mktemp)
	times >"$file" # in a pipe it would tell the times of the pipe
	read -r user system < <(tail -n 1 "$file")
	rm "$file"
	user=$(seconds "$user") system=$(seconds "$system")
	if [ -n "${step_name-}" ]; then
		printf -- '-- %s: %d s, %d s of CPU\n' "$step_name" $((SECONDS - step_began)) $((user + system - step_cpu))
	fi
	step_name=$* step_began=$SECONDS step_cpu=$((user + system))
	if [ $# -gt 0 ]; then
		printf '\n== %s\n' "$*"
	fi
}

# seconds reads a time as the shell writes it, 1m2.345s.
seconds() {
	local minutes=${1%m*} rest=${1#*m}
	echo $((minutes * 60 + ${rest%%[.,s]*}))
}
