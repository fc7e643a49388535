# A grid: output tokens per second and TTFT p95 of each cell, one above the
# other, in the order of the cells. A p95 that never came is hatched.
do for [kind in "svg png"] {
  load style
  set multiplot
  set lmargin at screen 0.13
  set rmargin at screen 0.97
  set xrange [-0.5:n-0.5]
  set boxwidth n > 30 ? 0.8 : 0.5
  set style fill solid 0.85 noborder
  set grid noxtics
  bottom = slanted ? 0.24 : 0.14
  middle = (0.87 + bottom) / 2
  set tmargin at screen 0.87
  set bmargin at screen middle + 0.025
  unset xlabel
  unset xtics
  set format y tokens_top < 1e5 ? "%g" : "%.0f"
  set yrange [0:tokens_top]
  set ylabel "output tokens/s"
  plot $bars using 1:2 with boxes lt 1, \
       $bars using 1:2:5 with labels noenhanced offset 0,0.7
  unset label 9999
  set tmargin at screen middle - 0.025
  set bmargin at screen bottom
  set xtics scale 0 noenhanced textcolor rgb "#333333"
  if (slanted) { set xtics rotate by 35 right } else { set xtics norotate }
  set format y ttft_top < 1e5 ? "%g" : "%.0f"
  set yrange [0:ttft_top]
  set xlabel axis noenhanced
  set ylabel "TTFT p95, ms"
  plot $bars using 1:3:xticlabels(7) with boxes lt 2, \
       $bars using 1:4 with boxes fs pattern 5 border lt 2 lc rgb "#D55E00", \
       $bars using 1:($4 > 0 ? 0.8 * $4 : $3):6 \
         with labels noenhanced offset 0,0.7
  unset multiplot
  unset output
}
