"""`audit serve`: the audits of a folder by their schedules, each run in a process of its own."""
