# Share of the endpoint's requests by deployment, expected share dashed.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "share of requests, %"
  set xrange [0:xmax]
  set yrange [0:ymax]
  set ytics 0, 20, 100
  plot for [i=1:n] $curves index (2*i-2) using 1:2 with lines lt i lw 1.6, \
       for [i=1:n] $curves index (2*i-1) using 1:2 with lines lt i lw 1.6 dt 2
  set ytics auto
  unset output
}
