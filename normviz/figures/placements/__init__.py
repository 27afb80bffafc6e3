"""What does the placement lab show? One module per figure, each with pure functions."""
