"""The evaluation of models: `evaluate()` in memory or by an engine, and `select()` among checkpoints."""
