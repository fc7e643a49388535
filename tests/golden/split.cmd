run scenarios/split-25-75.json --duration 2m
