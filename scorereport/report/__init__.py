"""Results as documents: numbers to strings, templates to HTML, HTML to PDF, each in one place."""
