# Time to first token of an endpoint: p50, p95 and p99 of every interval. An
# interval in which no first token came is a gap.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "time to first token, ms"
  set xrange [0:xmax]
  set yrange [0:ymax]
  plot for [i=1:3] $curves index (i-1) using 1:2 with lines lt i
  unset output
}
