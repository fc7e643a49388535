run scenarios/hello.json --set traffic[0].rate=-3
