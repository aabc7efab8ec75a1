//! Calls carried out at most once, whatever the fabric repeats: a state machine without I/O.
