#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of the README, as they stand there, in a copy of the data.
. tests/cli/tap.sh.inc

mkdir -p "$scratch/tree/sim"
cp -R models scenarios plots "$scratch/tree/"
cp sim/LAYERS "$scratch/tree/sim/"
ln -s "$(cd "$(dirname "$weir")" && pwd)/$(basename "$weir")" "$scratch/tree/weir"
sed -n '/^## The model in five commands/,/^1\./p' README.md |
	sed -n 's/^\(\.\/weir .*\)$/\1/p' >"$scratch/commands"

five() {
	[ "$(wc -l <"$scratch/commands")" -eq 5 ]
}
# The last one shows a rule that does not hold; all others exit with 0.
each() {
	cd "$scratch/tree" || return 1
	n=0
	while read -r line; do
		n=$((n + 1))
		sh -c "$line" >log 2>&1 </dev/null || { cat log; return 1; }
	done <"$scratch/commands"
	says 'would see 1' log
}
kept() {
	[ -s "$scratch/tree/out/shift/share.svg" ] &&
		[ -s "$scratch/tree/out/shift/summary.json" ]
}

check 'the README shows five commands' five
check 'they run as they stand' each
check 'and leave what the README says' kept
finish
