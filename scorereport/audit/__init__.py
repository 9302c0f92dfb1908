"""Audits: the same evaluation again and again, on new data, judged, compared with the past, recorded."""
