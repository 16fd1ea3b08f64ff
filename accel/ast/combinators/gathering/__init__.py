"""Elements put together, and picked: joins, masks, filters."""
