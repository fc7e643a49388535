run scenarios/azure-conv-hour.json
