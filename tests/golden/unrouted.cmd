run scenarios/published/e03-unrouted.json
