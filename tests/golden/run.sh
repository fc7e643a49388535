#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [--accept] - runs every case of this directory and compares what it
# wrote to stdout, byte by byte. NAME.cmd holds the arguments of weir, in one
# line of shell words; NAME.out the output, its last line the exit status.
# With --accept the output of today becomes the expected one.
set -u

here=$(dirname "$0")
weir=${WEIR:-./weir}
actual=$(mktemp) || exit 1
trap 'rm -f "$actual"' EXIT

set -- "${1-}" "$here"/*.cmd
accept=$1
shift
[ -e "$1" ] || shift

[ "$accept" = --accept ] || echo "1..$#"
number=0
bad=0
for case; do
	number=$((number + 1))
	name=$(basename "$case" .cmd)
	expected=$here/$name.out
	eval "\"\$weir\" $(cat "$case")" >"$actual" 2>/dev/null </dev/null
	echo "exit status $?" >>"$actual"
	if [ "$accept" = --accept ]; then
		if ! cmp -s "$actual" "$expected"; then
			cp "$actual" "$expected"
			echo "accepted $name"
		fi
	elif cmp -s "$actual" "$expected"; then
		echo "ok $number - $name"
	else
		bad=1
		echo "not ok $number - $name"
		diff -u "$expected" "$actual" 2>&1 | head -n 20 | sed 's/^/# /'
	fi
done
exit $bad
