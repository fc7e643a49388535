#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir plot: the charts of a run and of a grid, and what it says without
# gnuplot.
. tests/cli/tap.sh.inc

"$weir" run -q scenarios/shift-1-to-2.json --dir "$scratch/run" >/dev/null
"$weir" run -q scenarios/hello.json --duration 1m --set 'expect=[]' \
	--vary traffic[0].rate=2,4 --dir "$scratch/grid" >/dev/null

pictures() { # DIR NAME...
	dir=$1
	shift
	for name; do
		[ -s "$dir/$name.svg" ] && [ -s "$dir/$name.png" ] || return 1
		says '</svg>' "$dir/$name.svg" || return 1
	done
	[ "$(find "$dir" -name '.*.svg' | wc -l)" -eq 0 ]
}
without_gnuplot() {
	mkdir -p "$scratch/bin"
	ln -sf "$(command -v sh)" "$scratch/bin/sh"
	rm -f "$scratch/run/share.svg"
	PATH=$scratch/bin exits 3 "$weir" plot "$scratch/run" 2>"$scratch/err"
	says 'apt install gnuplot' "$scratch/err" &&
		[ ! -e "$scratch/run/share.svg" ] &&
		[ -s "$scratch/run/series.csv" ]
}

check 'plot a run' "$weir" plot "$scratch/run"
check 'its pictures' pictures "$scratch/run" share ttft replicas queue
check 'the title is the answer' says 'Traffic follows capacity' \
	"$scratch/run/share.svg"
check 'text stays text' says '<text' "$scratch/run/ttft.svg"
check 'plot a grid' "$weir" plot "$scratch/grid"
check 'its picture' pictures "$scratch/grid" cells
check 'without gnuplot: one line, results kept' without_gnuplot
finish
