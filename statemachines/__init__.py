"""The compiler: from a lifecycle spec to an executable state machine."""
