run scenarios/shift-1-to-2.json
