# Replicas ready (solid) and wanted (dashed) by deployment.
do for [kind in "svg png"] {
  load style
  set xlabel "simulated time, minutes"
  set ylabel "replicas"
  set xrange [0:xmax]
  set yrange [0:ymax]
  set ytics 0, ystep
  plot for [i=1:n] series using (column("replication") == 0 && \
         strcol("scope") eq "deployment" && strcol("id") eq ids[i] ? \
         column("to_s") / 60 : NaN):(column("ready")) with fsteps lt i, \
       for [i=1:n] series using (column("replication") == 0 && \
         strcol("scope") eq "deployment" && strcol("id") eq ids[i] ? \
         column("to_s") / 60 : NaN):(column("wanted")) \
         with fsteps lt i dt 2
  set ytics auto
  unset output
}
