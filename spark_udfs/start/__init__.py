"""What a session waits for before its first row: JVM classes and Python imports, made ready before it."""
