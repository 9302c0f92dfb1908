"""Server behind `audit serve`: the audits of a folder on their schedules, each run in its own process."""
