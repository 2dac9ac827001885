"""Types and schemas, Arrow to Spark and back."""
