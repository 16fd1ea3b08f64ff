"""The workloads' programs, one module for each tool; a worker imports only its own."""
