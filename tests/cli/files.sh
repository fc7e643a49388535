#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Where weir run writes: through pipes and links, into directories that were
# used before, and nowhere when it has nothing or may not.
. tests/cli/tap.sh.inc

quick="--duration 20s --set expect=[]"
run() { # ARGUMENT...
	# shellcheck disable=SC2086
	"$weir" run -q scenarios/hello.json $quick "$@"
}
in_fifo() {
	mkfifo "$scratch/fifo" || return 1
	cat "$scratch/fifo" >"$scratch/read" &
	run -o json="$scratch/fifo" && wait $! &&
		[ -p "$scratch/fifo" ] && says '"hello"' "$scratch/read"
}
through_link() {
	echo old >"$scratch/target" &&
		ln -s "$scratch/target" "$scratch/link" || return 1
	run -o json="$scratch/link" && [ -L "$scratch/link" ] &&
		says '"hello"' "$scratch/target"
}
into_directory() { # refused, and it stays
	mkdir "$scratch/isdir"
	exits 2 run -o json="$scratch/isdir" 2>"$scratch/err" &&
		[ -d "$scratch/isdir" ] && says 'directory' "$scratch/err"
}
# Commands that print and do nothing else; standard output cannot take it.
unwritable() {
	for words in --version help 'run --help' 'explain ttft' \
		'validate scenarios/hello.json' "plot $scratch/charts" \
		'run scenarios/hello.json --duration 1s'; do
		# shellcheck disable=SC2086
		exits 3 "$weir" $words >&- 2>"$scratch/err" ||
			{ echo "$words"; return 1; }
		says 'standard output' "$scratch/err" || return 1
	done
}
# A file that is opened while stdout is closed does not become stdout.
closed() {
	exits 3 "$weir" run scenarios/hello.json --duration 10s \
		--dir "$scratch/closed" >&- 2>/dev/null
	! grep -q 'simulated, seed' "$scratch/closed"/*
}

names() {
	(cd "$1" && find . -type f | LC_ALL=C sort | paste -s -d' ' -)
}
a_run='./events.jsonl ./requests.csv ./scenario.json ./series.csv ./summary.json'
old_charts() { # a run over charts; what is not weir's stays
	run --dir "$scratch/used" && "$weir" plot -q "$scratch/used" &&
		echo mine >"$scratch/used/share-notes.svg" || return 1
	run --dir "$scratch/used" --seed 2 || return 1
	[ "$(names "$scratch/used")" = \
		"./events.jsonl ./requests.csv ./scenario.json ./series.csv ./share-notes.svg ./summary.json" ] ||
		{ names "$scratch/used"; return 1; }
}
old_grid() { # a run over a grid
	run --dir "$scratch/cells" --vary traffic[0].rate=2,3 &&
		"$weir" plot -q "$scratch/cells" &&
		echo mine >"$scratch/cells/rate=3/mine" || return 1
	run --dir "$scratch/cells" || return 1
	[ "$(names "$scratch/cells")" = "./events.jsonl ./rate=3/mine ./requests.csv ./scenario.json ./series.csv ./summary.json" ] &&
		[ ! -e "$scratch/cells/rate=2" ] || { names "$scratch/cells"; return 1; }
}
old_run() { # a grid over a run, and over a grid
	run --dir "$scratch/both" && "$weir" plot -q "$scratch/both" &&
		run --dir "$scratch/both" --vary traffic[0].rate=2,3 &&
		run --dir "$scratch/both" --vary traffic[0].rate=3,4 || return 1
	[ "$(cd "$scratch/both" && echo *)" = 'cells.csv rate=3 rate=4' ] ||
		{ names "$scratch/both"; return 1; }
}
old_endpoints() { # charts of several endpoints are named after them
	dir=$scratch/several
	"$weir" run -q scenarios/published/e03-unrouted.json --dir "$dir" &&
		"$weir" plot -q "$dir" &&
		[ -e "$dir/share-ep_zero_weight.svg" ] && run --dir "$dir" &&
		[ "$(names "$dir")" = "$a_run" ]
}
clash() { # PATTERN ARGUMENT... - refused by one line; nothing is written
	pattern=$1
	shift
	exits 2 "$weir" run "$@" --dir "$scratch/clash" 2>"$scratch/err" &&
		[ "$(wc -l <"$scratch/err")" -eq 1 ] &&
		says "$pattern" "$scratch/err" && [ ! -e "$scratch/clash" ]
}
interrupted() { # nothing was finished: no directory, and it says so
	"$weir" run scenarios/hello.json --duration 100d --dir "$scratch/i/n/t" \
		>"$scratch/out" 2>"$scratch/err" &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid
	[ $? -eq 130 ] && [ ! -e "$scratch/i" ] && [ ! -s "$scratch/out" ] &&
		says 'interrupted before anything was finished' "$scratch/err"
}
progress() { # within one long replication
	"$weir" run -q --progress always scenarios/hello.json --duration 100d \
		2>"$scratch/err" &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid
	says 'hello: .* of 100d.* simulated, [0-9]+ s left' "$scratch/err"
}
quiet_failures() {
	exits 1 "$weir" run -q scenarios/hello.json --duration 20s \
		--set 'expect=["dropped == 0","dropped == 1","ttft.p95 < 1ns"]' \
		>"$scratch/out" 2>"$scratch/err"
	[ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" -eq 2 ] &&
		says '^hello: FAIL dropped == 1   0   bound 1$' "$scratch/err"
}
plain_terminal() { # no control character of a name reaches the terminal
	esc='\\u001b[31mred\\u009b'
	sed "s/The simplest/C $esc/" \
		scenarios/hello.json >"$scratch/colour.json"
	"$weir" run "$scratch/colour.json" --duration 10s --set 'expect=[]' \
		>"$scratch/out" 2>"$scratch/err"
	"$weir" run scenarios/hello.json --set "x $(printf '\033[31m')=1" \
		2>>"$scratch/err"
	says '^C \?\[31mred' "$scratch/out" &&
		! LC_ALL=C grep -n "$(printf '\033')\|$(printf '\302\233')" \
			"$scratch/out" "$scratch/err"
}
plain_numbers() {
	"$weir" run scenarios/hello.json --duration 1ms --set 'expect=[]' \
		--set traffic[0].rate=10000000 >"$scratch/out" 2>/dev/null
	says ' 10 000 000 requests/s' "$scratch/out" &&
		! grep -E '[0-9]e[+-]?[0-9]' "$scratch/out" || return 1
	"$weir" run scenarios/split-25-75.json --duration 4m \
		--set 'expect=["share(dep_a) == 3/4"]' >"$scratch/out" 2>/dev/null
	says ', p < 1e-6' "$scratch/out"
}

check 'a pipe is written to, and stays one' in_fifo
check 'a link is written through' through_link
check 'a directory is no file' into_directory
run --dir "$scratch/charts"
check 'standard output that cannot be written' unwritable
check 'a closed standard output is not taken by a file' closed
check 'a run over charts' old_charts
check 'a run over a grid' old_grid
check 'a grid over a run and over a grid' old_run
check 'a run over charts of several endpoints' old_endpoints
check 'one scenario twice' clash 'different names' \
	scenarios/hello.json scenarios/hello.json
check 'two cells of one name' clash 'two cells are called rate=2' \
	scenarios/hello.json --vary traffic[0].rate=2,3,2
check 'interrupted with nothing' interrupted
check 'progress within a replication' progress
check 'quiet, and yet what did not hold' quiet_failures
check 'control characters of names' plain_terminal
check 'numbers without exponents' plain_numbers
finish
