run scenarios/published/e01-capacity-split.json --reps 100
