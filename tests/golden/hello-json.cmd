run scenarios/hello.json --duration 1m -o json
