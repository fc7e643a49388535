#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Command lines: help, versions, and words that are wrong.
. tests/cli/tap.sh.inc

err=$scratch/err
wrong() { # PATTERN ARGUMENT... - exit 2, one line on stderr that matches
	pattern=$1
	shift
	exits 2 "$weir" "$@" 2>"$err" >"$scratch/out" || return 1
	[ "$(wc -l <"$err")" -eq 1 ] || { cat "$err"; return 1; }
	[ ! -s "$scratch/out" ] || return 1
	says "$pattern" "$err"
}
help_of_every_verb() {
	for verb in run validate plot trace help; do
		"$weir" "$verb" --help | grep -q "^usage: weir $verb" || return 1
	done
}

check 'help lists the verbs' sh -c "'$weir' help | grep -q '^  validate '"
check 'every verb has help' help_of_every_verb
check 'version' sh -c "'$weir' --version | grep -Eq '^weir [0-9]+\.[0-9]+'"
check 'no words: usage and exit 2' exits 2 "$weir"
check 'unknown verb: the nearest is named' wrong 'did you mean "run"' runn
check 'unknown option: the nearest is named' \
	wrong 'did you mean --reps' run --rep 3 scenarios/hello.json
check 'an option of another verb' wrong 'no such option' validate --reps 3 x
check 'a value is missing' wrong 'is missing' run scenarios/hello.json --dir
check 'a format that is none' wrong 'text or json' run -o yaml scenarios/hello.json
check '--set without a value' wrong 'PATH=VALUE' run --set seed scenarios/hello.json
check '--vary without values' wrong 'PATH=VALUES' run --vary seed scenarios/hello.json
check '--progress with another word' wrong 'auto, always or never' \
	run --progress maybe scenarios/hello.json
check 'run without a scenario' wrong 'is missing' run
check 'validate without a scenario' wrong 'is missing' validate
check 'plot without a directory' wrong 'missing' plot
check 'trace without a file' wrong 'trace file' trace
check '--log without --dir' wrong 'goes with --dir' \
	run --log all scenarios/hello.json
check '--data that is no directory' wrong 'not a directory' \
	run --data "$scratch/none" scenarios/hello.json
check '--seed is named once' wrong '^--seed: must be a whole number, not "x"$' \
	run --seed x scenarios/hello.json
check 'a long value is not repeated' wrong '^--set expect: ..expect.1.: ' \
	run scenarios/hello.json \
	--set 'expect=["dropped == 0", "ttft.p95 << 3", "dropped == 1"]'
check 'plot of a directory that is none' wrong 'No such file|unable to open' \
	plot "$scratch/none"
check 'a scenario that does not exist' wrong 'No such file' \
	validate "$scratch/none.json"
finish
