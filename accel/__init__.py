"""accel: an embedded, typed array language that fuses optimally and runs at memory speed."""
