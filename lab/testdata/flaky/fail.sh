#!/bin/bash
# fail.sh NAME [command...]
# Runs  ${GOTEST:-go test} -count=N ./NAME  in the way that makes NAME's flaky
# test fail. The command may also follow NAME (fail.sh heartbeat mytool test).
# COUNT overrides N. Exit status: that of the command (124: time limit, 120 s).
cd "$(dirname "$0")" || exit 2
name=${1%/}; name=${name#./}; shift
if [ $# -gt 0 ]; then cmd=("$@"); else read -ra cmd <<<"${GOTEST:-go test}"; fi
export GOFLAGS=${GOFLAGS--p=1 -buildvcs=false}

n=1 env=() dist=() flags=()
case $name in
# starved
heartbeat)  n=10 dist=(-stop 80ms -run 40ms) ;;
drain)      n=5  env=(GOMAXPROCS=1) dist=(-burn 4) ;;
indexer)    n=3  env=(GOMAXPROCS=1) flags=(-parallel=4) ;;
timeline)   n=10 dist=(-stop 80ms -run 30ms) ;;
ratelimit)  n=12 env=(GOMAXPROCS=1) dist=(-burn 4) ;;
sampler)    n=5  env=(GOMAXPROCS=1) dist=(-burn 4) ;;
scenegraph) n=3  env=(GOMAXPROCS=1 GOGC=1) ;;
supervisor) n=6  dist=(-burn 6) ;;
quotes)     n=5  dist=(-stop 120ms -run 40ms) ;;
debounce)   n=10 dist=(-stop 60ms -run 30ms) ;;
# logic
mailbox)    n=3 ;;
transfer)   n=3 ;;
hedge)      n=4 ;;
throttle)   n=10 ;;
worker)     n=10 ;;
labels)     n=10 ;;
crawler)    n=5 ;;
auditlog)   n=10 ;;
registry)   n=2 flags=(-shuffle=on) ;;
permcache)  n=6 ;;
# rebuilt from public reports: starved
statewait|probe|loading|descendants) n=6 dist=(-burn 6) ;;
backoff)    n=6  dist=(-stop 60ms -run 30ms) ;;
# and logic
completion|untracked|askgate|subprocess|removal) n=20 ;;
*) echo "fail.sh: unknown package '$name'" >&2; exit 2 ;;
esac

# Build what can be built before the clock starts and before the neighbours do.
mkdir -p .bin
[ .bin/disturb -nt _disturb/main.go ] ||
  { nice go build -o .bin/disturb.$$ ./_disturb && mv .bin/disturb.$$ .bin/disturb; } || exit 2
nice go test -run '^$' "./$name" >/dev/null || exit 2

# Busy threads run at nice +5, the test at +19.
exec nice -n 5 .bin/disturb "${dist[@]}" -- \
  nice -n 14 env "${env[@]}" "${cmd[@]}" -count="${COUNT:-$n}" "${flags[@]}" "./$name"
