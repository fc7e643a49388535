#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir run: exit status, files, the same bytes again.
. tests/cli/tap.sh.inc

quick="--duration 2m --set expect=[]"
files="summary.json series.csv requests.csv events.jsonl scenario.json"

run() { # DIR ARGUMENT...
	dir=$1
	shift
	"$weir" run -q --dir "$dir" "$@"
	[ $? -le 1 ]
}
all_there() {
	for f in $files; do
		[ -s "$1/$f" ] || { echo "$1/$f is missing"; return 1; }
	done
	[ "$(find "$1" -name '*.part' | wc -l)" -eq 0 ]
}
same() {
	for f in $files; do
		cmp "$1/$f" "$2/$f" || return 1
	done
}
rules() { # STATUS RULE
	exits "$1" "$weir" run -q scenarios/hello.json --set "expect=[\"$2\"]"
}
nothing_written() {
	exits 2 "$weir" run scenarios/hello.json --dir "$scratch/bad" \
		--set traffic[0].rate=-3 && [ ! -e "$scratch/bad" ]
}
kept() { # bad input leaves an earlier result as it was
	cp -R "$scratch/a" "$scratch/before"
	exits 2 "$weir" run scenarios/hello.json --dir "$scratch/a" \
		--set traffic[0].rate=-3
	same "$scratch/a" "$scratch/before"
}
json_to_file() {
	"$weir" run -q scenarios/hello.json $quick -o json="$scratch/s.json" &&
		says '"ttft"' "$scratch/s.json" &&
		says '"p95_ms"' "$scratch/s.json"
}
stdout_twice() {
	"$weir" run scenarios/hello.json >"$scratch/1" 2>/dev/null
	"$weir" run scenarios/hello.json >"$scratch/2" 2>/dev/null
	cmp "$scratch/1" "$scratch/2" && [ -s "$scratch/1" ]
}
width() {
	"$weir" run scenarios/shift-1-to-2.json 2>/dev/null |
		awk 'length($0) > 80 { print; wide = 1 } END { exit wide }'
}
grid() {
	run "$scratch/grid" scenarios/hello.json $quick \
		--vary traffic[0].rate=2,4 --vary seed=1..3/3 &&
		[ "$(wc -l <"$scratch/grid/cells.csv")" -eq 7 ] &&
		[ "$(find "$scratch/grid" -name summary.json | wc -l)" -eq 6 ]
}
replications() {
	run "$scratch/reps" scenarios/hello.json $quick --reps 3 --log all &&
		[ "$(cut -d, -f2 "$scratch/reps/requests.csv" | sort -u |
			grep -c '^[012]$')" -eq 3 ]
}
only_the_first() {
	run "$scratch/reps1" scenarios/hello.json $quick --reps 3 &&
		[ "$(cut -d, -f2 "$scratch/reps1/requests.csv" | sort -u |
			grep -c '^[0-9]')" -eq 1 ]
}
interrupt() {
	"$weir" run -q scenarios/hello.json --duration 100d --reps 1000 \
		--dir "$scratch/int" >"$scratch/int.out" 2>&1 &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid
	status=$?
	[ $status -eq 130 ] || { echo "exit status $status"; return 1; }
	[ "$(find "$scratch/int" -name '*.part' | wc -l)" -eq 0 ]
}
conserved() { # every request that arrived has one row
	awk -F, 'NR > 1 { rows++ } END { print rows }' \
		"$scratch/a/requests.csv" >"$scratch/rows"
	says "\"arrived\": $(cat "$scratch/rows")," "$scratch/a/summary.json"
}
stepping() { # leaping and stepping tell the same
	run "$scratch/leap" scenarios/shift-1-to-2.json --duration 12m &&
		run "$scratch/step" scenarios/shift-1-to-2.json --duration 12m \
			--exact-steps
	same "$scratch/leap" "$scratch/step"
}
seed_matters() {
	run "$scratch/seed2" scenarios/hello.json $quick --seed 2 &&
		! cmp -s "$scratch/a/requests.csv" "$scratch/seed2/requests.csv"
}

check 'run leaves its files' run "$scratch/a" scenarios/hello.json $quick
check 'all of them, whole' all_there "$scratch/a"
check 'again: the same bytes' sh -c "'$weir' run -q --dir '$scratch/b' scenarios/hello.json $quick"
check 'byte by byte' same "$scratch/a" "$scratch/b"
check 'the effective scenario runs' run "$scratch/c" "$scratch/a/scenario.json"
check 'and gives the same bytes' same "$scratch/a" "$scratch/c"
check 'another seed, another run' seed_matters
check 'every step run: the same bytes' stepping
check 'a row for every request that arrived' conserved
check 'stdout is the same twice' stdout_twice
check 'the screen is narrow' width
check 'a rule that holds: exit 0' rules 0 'dropped == 0'
check 'a rule that does not: exit 1' rules 1 'dropped == 1'
check 'a rule that cannot be read: exit 2' rules 2 'dropped =='
check 'bad input: nothing is written' nothing_written
check 'bad input: earlier results stay' kept
check 'json into a file' json_to_file
check 'a grid: a row and a folder a cell' grid
check 'requests of every replication' replications
check 'requests of the first replication' only_the_first
check 'SIGINT: exit 130, nothing half-written' interrupt
finish
