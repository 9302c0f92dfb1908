"""The schedule of an audit in the words of systemd and of cron."""
