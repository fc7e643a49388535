# What all charts share. Expects: kind ("svg" or "png"), out (a path without
# its ending) and title.
set encoding utf8
if (kind eq "svg") {
  set terminal svg size 960,540 dynamic enhanced font "sans-serif,15" background "#ffffff"
} else {
  set terminal pngcairo size 960,540 enhanced font "sans-serif,12" background "#ffffff"
}
set output out.".".kind
set datafile separator comma
set datafile missing NaN
unset title
set label 9999 title at graph 0, 1.09 left noenhanced \
  font strlen(title) > 88 ? ",11" : strlen(title) > 70 ? ",13" : ",17"
set border 3 lc rgb "#666666"
set tics nomirror out textcolor rgb "#333333"
set grid lc rgb "#dddddd" lt 1 lw 0.7
set style textbox opaque fillcolor rgb "#ffffff" noborder margins 0.4,0.4
set rmargin 18
set tmargin 4
unset key
