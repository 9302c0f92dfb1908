"""Parts for pipelines: runs of MLflow, a plugin of pytest, and JUnit files of continuous integration."""
