"""Schedules that only CPU devices of work-items have."""
