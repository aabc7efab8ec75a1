//! What fuzz targets share.
pub mod memory;
pub mod stack;
