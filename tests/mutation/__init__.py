"""Whether the tests can fail: faults planted in accel one at a time, each of which some quick test must notice."""
