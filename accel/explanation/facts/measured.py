"""What a loop of a program took when it ran."""

from __future__ import annotations

from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """One loop in one run of the program, all its turns together: `str()` says it in a line.

    times: how often it ran; none if it stands in a branch that was not taken, or has nothing to do. bytes_read, bytes_written:
    its passes with the extents that it had. bandwidth: what this machine moves, in GB/s.
    """

    times: int
    milliseconds: float
    bytes_read: int
    bytes_written: int
    bandwidth: float

    @property
    def gigabytes_per_second(self) -> float:
        """What it moved, in 10^9 bytes a second; 0 if it did not run."""
        moved = self.bytes_read + self.bytes_written
        return moved / (self.milliseconds * 1e6) if self.milliseconds else 0.0

    @property
    def share(self) -> float:
        """That as a part of the machine's bandwidth; above 1 where the caches held what it read."""
        return self.gigabytes_per_second / self.bandwidth

    def __str__(self) -> str:
        if not self.times:
            return "did not run"
        turns = f" in {self.times:,} turns" if self.times > 1 else ""
        speed = f"{self.gigabytes_per_second:.1f} GB/s, {self.share:.0%} of the bandwidth"
        return f"{self.milliseconds:,.3f} ms{turns}, {speed}"
