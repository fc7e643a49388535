#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir plot: the charts of a run and of a grid, and what it says without
# gnuplot, scripts or results.
. tests/cli/tap.sh.inc

# Of each picture $scratch/told keeps what gnuplot was told.
mkdir "$scratch/tee" "$scratch/told"
cat >"$scratch/tee/gnuplot" <<SCRIPT
#!/bin/sh
cat >"$scratch/told/\$\$"
exec "$(command -v gnuplot)" "$scratch/told/\$\$"
SCRIPT
chmod +x "$scratch/tee/gnuplot"

"$weir" run -q scenarios/shift-1-to-2.json --dir "$scratch/run" >/dev/null
"$weir" run -q scenarios/hello.json --duration 1m --set 'expect=[]' \
	--vary traffic[0].rate=2,4 --dir "$scratch/grid" >/dev/null
# B is lost and comes back, then both are lost for a while.
"$weir" run -q scenarios/published/e03-zero-ready.json --reps 1 \
	--set 'expect=[]' --dir "$scratch/zero" >/dev/null
"$weir" run -q scenarios/hello.json --duration 1m --set 'expect=[]' \
	--vary traffic[0].rate=2,90 --dir "$scratch/inf" >/dev/null

pictures() { # DIR NAME...
	dir=$1
	shift
	for name; do
		[ -s "$dir/$name.svg" ] && [ -s "$dir/$name.png" ] || return 1
		says '</svg>' "$dir/$name.svg" || return 1
	done
	[ "$(find "$dir" -name '.*.svg' | wc -l)" -eq 0 ]
}
told() { # DIR SCRIPT - leaves in $scratch/chart what SCRIPT was told
	rm -f "$scratch/told"/*
	PATH=$scratch/tee:$PATH "$weir" plot -q "$1" || return 1
	cp "$(grep -l "/$2.gp'" "$scratch/told"/*)" "$scratch/chart"
}
title() { # DIR SCRIPT PATTERN
	told "$1" "$2" && says "^title = '$3'$" "$scratch/chart"
}
# The n-th curve: its points, and an empty line for each gap in it.
curve() {
	sed -n '/<< EOD/,/^EOD/p' "$scratch/chart" | sed '1d;$d' | awk -v n="$1" '
	$0 == "" { empty++; next }
	{ if (empty >= 2) curve++
	  if (curve == n && empty == 1) print ""
	  if (curve == n) print
	  empty = 0 }'
}
gaps() { # DIR SCRIPT CURVE GAPS
	told "$1" "$2" || return 1
	curve "$3" >"$scratch/curve"
	[ "$(grep -c '^$' "$scratch/curve")" -eq "$4" ] || {
		cat "$scratch/curve"
		return 1
	}
}
# Both are lost at 350 s; the one that A gets is ready when its event says so.
exact_times() {
	told "$scratch/zero" replicas && curve 0 >"$scratch/curve" &&
		says '^5\.83333333,2$' "$scratch/curve" &&
		says '^5\.83333333,0$' "$scratch/curve" || return 1
	at=$(sed -n 's/.*"at_s":"\([0-9.]*\)".*dep_a-1 is ready, 2 of 2.*/\1/p' \
		"$scratch/run/events.jsonl")
	told "$scratch/run" replicas && curve 0 >"$scratch/curve" &&
		says "^$(echo "$at" | awk '{ printf "%.9g", $1 / 60 }'),2$" \
			"$scratch/curve"
}
inf_bar() {
	title "$scratch/inf" cells \
		'417 to 5 [0-9]+ output tokens/s, first token p95 25 to inf ms' &&
		says '^1,[0-9.]+,0,[0-9.]+,"5 [0-9]+","inf","90"$' "$scratch/chart" &&
		says '>inf<' "$scratch/inf/cells.svg"
}
each_name() { # TEXT - 12 times, with long names that differ at their end
	for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
		echo "$1" | sed "s/ID/dep_with_a_long_name_$i/"
	done | paste -s -d, -
}
many_names() {
	cat >"$scratch/many.json" <<-SCENARIO
		{ "name": "many", "duration": "1m",
		  "endpoint": { "id": "ep_m", "name": "acme/m",
		    "traffic_split": [ $(each_name '{ "deployment_id": "ID", "weight": 1 }') ],
		    "deployments": [ $(each_name '{ "id": "ID", "config": "cr_8b-h100-balanced-ac65f3" }') ] },
		  "traffic": [ { "name": "c", "rate": 20, "input_tokens": 100,
		    "output_tokens": 100 } ] }
	SCENARIO
	"$weir" run -q "$scratch/many.json" --dir "$scratch/many" &&
		told "$scratch/many" share &&
		says "'\+4 more'$" "$scratch/chart" &&
		says "'dep_with_a_.*…ame_7'$" "$scratch/chart" &&
		! grep -E 'name_[0-9]|ame_8' "$scratch/chart"
}
# Words of events stand on white, and in front.
boxed() {
	told "$scratch/zero" share &&
		says "^set label .* boxed front .* 'dep_b: lost'$" "$scratch/chart"
}
no_results() {
	mkdir "$scratch/empty"
	exits 2 "$weir" plot "$scratch/empty" 2>"$scratch/err" &&
		says 'weir run SCENARIO --dir DIR leaves some' "$scratch/err"
}
# A program alone says where it looked; with its data beside it, it draws.
alone() {
	mkdir "$scratch/alone" && cp "$weir" "$scratch/alone/weir" || return 1
	[ ! -d /usr/local/share/weir/plots ] || return 0
	(cd "$scratch/alone" &&
		exits 3 ./weir plot "$scratch/run" 2>"$scratch/err") &&
		says 'plots: not found; looked for .*/alone/plots, /' \
			"$scratch/err"
}
beside() {
	cp -R plots models "$scratch/alone/" &&
		cp scenarios/hello.json "$scratch/" || return 1
	(cd "$scratch" && alone/weir run -q hello.json --duration 10s \
		--dir beside && alone/weir plot -q beside) &&
		[ -s "$scratch/beside/share.svg" ]
}
linked() { # a picture that is a link is left alone
	cp -R "$scratch/run" "$scratch/linked" && echo kept >"$scratch/kept" &&
		ln -sf "$scratch/kept" "$scratch/linked/share.svg"
	exits 3 "$weir" plot -q "$scratch/linked" 2>"$scratch/err" &&
		says 'is no regular file' "$scratch/err" &&
		[ -L "$scratch/linked/share.svg" ] && says '^kept$' "$scratch/kept"
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
check 'shares: what was between first and last' title "$scratch/zero" share \
	'.*: dep_a 50, 100, 50 % again, dep_b 50, 0, 50 % again; .*'
check 'replicas: lost, and there again' title "$scratch/zero" replicas \
	'Ready replicas: dep_a 2, lost, 2 again, dep_b 2, lost, 2 again'
check 'first tokens: who was refused' title "$scratch/zero" ttft \
	'First token: .*; 1 [0-9]+ refused, [0-9]+ failed'
check 'no first token, no line' gaps "$scratch/zero" ttft 1 1
check 'the share of nothing is a gap' gaps "$scratch/zero" share 0 1
check 'a curve that never ends has none' gaps "$scratch/run" ttft 1 0
check 'replicas at the times of events' exact_times
check 'a p95 that never came' inf_bar
check 'many deployments with long names' many_names
check 'words of events on white' boxed
check 'a directory without results' no_results
check 'a program alone says where it looked' alone
check 'a program with its data beside it' beside
check 'a picture that is a link' linked
check 'without gnuplot: one line, results kept' without_gnuplot
finish
