"""What every room uses: arrays, checks, files, formatting, processes."""
