#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir fit: a curve and its errors, other rows predicted, a revision that runs.
. tests/cli/tap.sh.inc

header='model,params_b,precision,gpu,num_gpus,tp,engine,engine_version,isl,osl,load_mode,concurrency,offered_rps,achieved_rps,out_tok_s,ttft_mean_ms,ttft_p50_ms,ttft_p90_ms,ttft_p95_ms,ttft_p99_ms,itl_mean_ms,itl_p50_ms,itl_p95_ms,itl_p99_ms,e2e_mean_ms,e2e_p50_ms,e2e_p95_ms,e2e_p99_ms,n_requests,littles_L,flag,variant'
sweep=$scratch/made.csv
# Made-up numbers by the closed formula: 8 ms a step, 30 us a sequence,
# 0.05 us a token of context, 25 us a prompt token.
make_sweep() {
	echo "$header"
	awk -v shapes="$1" -v clients="$2" 'BEGIN {
		n = split(shapes, s, " "); m = split(clients, c, " ")
		for (i = 1; i <= n; i++) for (k = 1; k <= m; k++) {
			split(s[i], l, "/"); N = c[k]
			tpot = 8 + 0.03 * N + 5e-5 * N * (l[1] + l[2] / 2) \
				+ N * l[1] * 0.025 / l[2]
			ttft = 10 + 0.025 * l[1]
			e2e = ttft + (l[2] - 1) * tpot
			printf "m,8,bf16,H100,1,1,e,1,%d,%d,closed,%d,,%.6g,%.6g,%.6g,,,,,%.6g,,,,%.7g,,,,,%d,ok,\n",
				l[1], l[2], N, 1000 * N / e2e,
				1000 * N / e2e * l[2], ttft, tpot, e2e, N
		}
	}'
}
make_sweep '200/200 1000/400' '1 4 16 32' >"$sweep"
make_sweep '500/300' '8' >"$scratch/other.csv"
head -n 4 "$sweep" >"$scratch/few.csv"

fits() {
	"$weir" fit "$sweep" >"$scratch/fit" &&
		says '8 of 8 rows used' "$scratch/fit" &&
		says '^ *floor +[0-9.]+ +[0-9.]+ +us' "$scratch/fit" &&
		says 'mean absolute error: throughput [0-3]\.[0-9]% \(8 rows\)' \
			"$scratch/fit"
}
same_bytes() {
	"$weir" fit "$sweep" | cmp - "$scratch/fit"
}
against() {
	"$weir" fit "$sweep" --against "$scratch/other.csv" >"$scratch/against" &&
		says 'against rows that were not fitted' "$scratch/against" &&
		says 'throughput [0-6]\.[0-9]% \(1 rows\)' "$scratch/against"
}
as_json() {
	"$weir" fit "$sweep" --against "$scratch/other.csv" -o json \
		>"$scratch/json" && says '"standard_error"' "$scratch/json" &&
		says '"against"' "$scratch/json"
}
leaves() {
	"$weir" fit -q "$sweep" --dir "$scratch/dir" --out "$scratch/cr_made.json" &&
		[ "$(wc -l <"$scratch/dir/fit.csv")" -eq 9 ] &&
		[ -s "$scratch/dir/fit.svg" ] && ls "$scratch"/cr_made-??????.json
}
revision_runs() {
	file=$(basename "$scratch"/cr_made-*.json .json)
	cp scenarios/hello.json "$scratch/s.json"
	"$weir" run "$scratch/s.json" --set 'expect=[]' \
		--set "endpoint.deployments[0].config=$file" &&
		sed 's/"max_num_seqs": 256/"max_num_seqs": 255/' \
			"$scratch/$file.json" >"$scratch/x" &&
		mv "$scratch/x" "$scratch/$file.json" &&
		exits 2 "$weir" run "$scratch/s.json" --set 'expect=[]' \
			--set "endpoint.deployments[0].config=$file" &&
		rm "$scratch/$file.json"
}
few() {
	exits 2 "$weir" fit "$scratch/few.csv" >"$scratch/out" 2>"$scratch/err" &&
		says 'has 3 rows that can be used; a curve needs 5' \
			"$scratch/err" && says 'c 16' "$scratch/out"
}
client_limited() {
	awk -F, -v OFS=, 'NR > 5 { $12 *= 3 } { print }' "$sweep" \
		>"$scratch/limited.csv" &&
		"$weir" fit "$scratch/limited.csv" >"$scratch/out" &&
		says 'client-limited' "$scratch/out" &&
		says 'throughput [0-3]\.[0-9]%' "$scratch/out"
}
twice() {
	sed -n '1p;2,9p;9p' "$sweep" >"$scratch/twice.csv" &&
		"$weir" fit "$scratch/twice.csv" >"$scratch/out" &&
		says '8 of 9 rows used' "$scratch/out" &&
		says 'left out: line 10' "$scratch/out"
}
wrong_word() {
	exits 2 "$weir" fit "$sweep" --isl none 2>"$scratch/err" &&
		says '--isl: must be a number from 1 on, not none' "$scratch/err"
}
wrong_out() {
	exits 2 "$weir" fit -q "$sweep" --out "$scratch/x.json" 2>"$scratch/err" &&
		says 'must be a file cr_NAME.json' "$scratch/err"
}
# What ships with weir is within 4 % of the rows it was fitted to.
shipped() {
	"$weir" fit models/sweeps/70b-fp8-h100x4-vllm.csv >"$scratch/out" &&
		says 'throughput [0-3]\.[0-9]%' "$scratch/out"
}

check 'a curve with standard errors, rows and errors' fits
check 'the same bytes again' same_bytes
check 'other rows are predicted' against
check 'as JSON' as_json
check '--dir leaves rows and a chart, --out a revision' leaves
check 'the revision runs, and is refused when edited' revision_runs
check 'too few rows: shown and refused' few
check 'a client-limited sweep: said, and fitted to what was in the system' \
	client_limited
check 'a row that is there twice counts once' twice
check 'a length that is no number' wrong_word
check 'a revision by another name' wrong_out
check 'a measured sweep that ships' shipped
finish
