"""The only code that knows Ray: connecting, capacity, bounded flight, cancellation."""
