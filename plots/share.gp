# Share of the endpoint's requests by deployment, expected share dashed.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "share of requests, %"
  set xrange [0:xmax]
  set yrange [0:100]
  plot for [i=1:n] series using (column("replication") == 0 && \
         strcol("scope") eq "deployment" && strcol("id") eq ids[i] ? \
         column("to_s") / 60 : NaN):(100 * column("share")) \
         with lines lt i lw 1.6, \
       for [i=1:n] series using (column("replication") == 0 && \
         strcol("scope") eq "deployment" && strcol("id") eq ids[i] ? \
         column("to_s") / 60 : NaN):(100 * column("expected_share")) \
         with lines lt i lw 1.6 dt 2
  unset output
}
