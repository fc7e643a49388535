run scenarios/published/e03-zero-ready.json --reps 4
