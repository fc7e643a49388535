# Replicas ready (solid) and wanted (dashed) by deployment, at the times of
# the events. Earlier ones are drawn wider, so that equal ones are all seen.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "replicas"
  set xrange [0:xmax]
  set yrange [0:ymax]
  set ytics 0, ystep
  wide(i) = n > 6 ? 2 : 2 + 2.5 * (n - i)
  plot for [i=1:n] $curves index (2*i-2) using 1:2 with lines lt i lw wide(i), \
       for [i=1:n] $curves index (2*i-1) using 1:2 with lines lt i lw 2 dt 2
  set ytics auto
  unset output
}
