run scenarios/hello.json
