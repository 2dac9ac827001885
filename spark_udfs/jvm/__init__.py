"""Java of ours in the JVM of a live session."""
