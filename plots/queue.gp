# Requests running (solid) and waiting (dashed) by deployment.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "requests running (solid), waiting (dashed)"
  set xrange [0:xmax]
  set yrange [0:ymax]
  plot for [i=1:n] series using (column("replication") == 0 && \
         strcol("scope") eq "deployment" && strcol("id") eq ids[i] ? \
         column("to_s") / 60 : NaN):(column("batch")) with lines lt i, \
       for [i=1:n] series using (column("replication") == 0 && \
         strcol("scope") eq "deployment" && strcol("id") eq ids[i] ? \
         column("to_s") / 60 : NaN):(column("queue")) with lines lt i dt 2
  unset output
}
