# A fit: above, output tokens per second against the number in the system,
# measured (circles) and simulated (crosses); below, the residuals.
do for [kind in "svg png"] {
  load style
  set multiplot
  set lmargin at screen 0.10
  set rmargin at screen 0.97
  set logscale x 2
  set tmargin at screen 0.87
  set bmargin at screen 0.45
  set format x ""
  unset xlabel
  set ylabel "output tokens/s"
  rate(c) = column(c) * column("osl")
  plot fit using "littles_l":(rate("requests_per_s")) with points lt 1 pt 6 ps 1.3, \
       fit using "littles_l":(rate("requests_per_s_simulated")) with points lt 2 pt 2
  unset label 9999
  set tmargin at screen 0.40
  set bmargin at screen 0.14
  set format x "%g"
  set xlabel "in the system (rate x E2E)"
  set ylabel "error, %"
  set xzeroaxis
  plot fit using "littles_l":(100 * (column("requests_per_s_simulated") / \
         column("requests_per_s") - 1)) with impulses lt 1, \
       fit using "littles_l":(100 * (column("requests_per_s_simulated") / \
         column("requests_per_s") - 1)) with points lt 1 pt 7
  unset multiplot
  unset output
}
