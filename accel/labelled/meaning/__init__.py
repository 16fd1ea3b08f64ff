"""What a labelled program means: the interpreter, the order of folds, how arguments are bound, and the errors of a run."""
