# Requests running (solid) and waiting (dashed) by deployment.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "requests running (solid), waiting (dashed)"
  set xrange [0:xmax]
  set yrange [0:ymax]
  plot for [i=1:n] $curves index (2*i-2) using 1:2 with lines lt i, \
       for [i=1:n] $curves index (2*i-1) using 1:2 with lines lt i dt 2
  unset output
}
