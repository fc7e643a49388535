# A grid: output tokens per second and TTFT p95 of each cell, one above the
# other, in the order of the cells.
do for [kind in "svg png"] {
  load style
  set multiplot
  set lmargin at screen 0.10
  set rmargin at screen 0.97
  set xrange [-0.5:n-0.5]
  set yrange [0:*]
  set offsets 0, 0, graph 0.15, 0
  set boxwidth 0.5
  set style fill solid 0.85 noborder
  set grid noxtics
  set xtics scale 0
  set tmargin at screen 0.87
  set bmargin at screen 0.53
  unset xlabel
  set format x ""
  set ylabel "output tokens/s"
  plot cells using 0:(column("output_tokens_per_s")):xticlabels("") \
         with boxes lt 1, \
       cells using 0:(column("output_tokens_per_s")): \
         (sprintf("%.0f", column("output_tokens_per_s"))) \
         with labels offset 0,0.7
  unset label 9999
  set tmargin at screen 0.48
  set bmargin at screen 0.14
  set xlabel axis noenhanced
  set ylabel "TTFT p95, ms"
  plot cells using 0:(column("ttft_p95_ms")):xticlabels(strcol(labels)) \
         with boxes lt 2, \
       cells using 0:(column("ttft_p95_ms")): \
         (sprintf("%.0f", column("ttft_p95_ms"))) \
         with labels offset 0,0.7
  unset multiplot
  unset output
}
