"""Elements put together, and picked: joins, masks, filters, extremes, several folds in one pass."""
