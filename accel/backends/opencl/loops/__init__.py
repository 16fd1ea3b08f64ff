"""How a nest runs on a device: one file for each kind of kernel."""
