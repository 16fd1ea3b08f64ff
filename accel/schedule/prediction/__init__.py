"""What a schedule takes, predicted: what caches lack, and what instructions there are."""
