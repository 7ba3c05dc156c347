"""Wrong systems by their kernel: each does one thing otherwise than its spec says, by a named operator, told in words."""
