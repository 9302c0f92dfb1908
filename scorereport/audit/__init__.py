"""Audits: the same evaluation repeated on new data, judged, compared with the past and recorded."""
