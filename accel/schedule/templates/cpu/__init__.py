"""Schedules that only processors have, or CPU devices of work-items."""
