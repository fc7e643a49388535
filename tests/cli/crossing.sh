#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A grid of a choice and a number names where the lead changes hands.
. tests/cli/tap.sh.inc

a=cr_9b-h100-published-a-5e8ba6
b=cr_vl8b-h100-published-b-1f9eb6
grid() {
	"$weir" run scenarios/published/e20-wrong-choice.json --reps 1 \
		--vary endpoint.deployments[0].config=$a,$b \
		--vary traffic[0].concurrency="$1" >"$scratch/out" 2>/dev/null
}
full() {
	grid 2,4,8,16 &&
		says "^most output tokens/s: $b up to 4, $a from 8 on$" \
			"$scratch/out"
}
short() {
	grid 1,2,4 && says "^most output tokens/s: $b on$" "$scratch/out"
}
one_axis() {
	"$weir" run scenarios/published/e20-wrong-choice.json --reps 1 \
		--vary traffic[0].concurrency=2,4 >"$scratch/out" 2>/dev/null
	! grep -q '^most output' "$scratch/out"
}

check 'B up to 4, A from 8' full
check 'a sweep that stops at 4 sees B only' short
check 'one axis has no crossing' one_axis
finish
