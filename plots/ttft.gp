# Time to first token of an endpoint: p50, p95 and p99 of every interval.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "time to first token, ms"
  set xrange [0:xmax]
  set yrange [0:ymax]
  array name[3] = ["ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms"]
  plot for [i=1:3] series using (column("replication") == 0 && \
         strcol("scope") eq "endpoint" && strcol("id") eq endpoint ? \
         column("to_s") / 60 : NaN):(column(name[i])) with lines lt i
  unset output
}
