run scenarios/closed-loop-25-75.json --duration 2m --vary traffic[0].concurrency=4,8,16
