"""The processor that this process runs on: its code generator and its memory."""
