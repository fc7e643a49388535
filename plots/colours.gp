# Okabe and Ito's colours, which everyone tells apart: one a deployment, in
# the order of the scenario. From the ninth on they come again, broken.
array hue[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", \
                "#E69F00", "#56B4E9", "#000000", "#888800"]
array broken[4] = ["", "_", ".", "_."]
do for [i=1:32] {
  if (i <= 8) {
    set linetype i lc rgb hue[i] lw 2
  } else {
    set linetype i lc rgb hue[(i - 1) % 8 + 1] lw 2 dt broken[(i - 1) / 8 + 1]
  }
}
set linetype cycle 32
