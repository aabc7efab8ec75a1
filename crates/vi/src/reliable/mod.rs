//! Reliability over fabrics that lose, duplicate and reorder packets: a state machine without I/O.
