//! Captures compressed in every way that is read.
#![allow(dead_code, missing_docs)]

use std::io::Write;

/// Compresses octets to a stream of its own.
pub type Compress = fn(&[u8]) -> Vec<u8>;

/// Every way, by the name in messages.
pub const ALL: [(&str, Compress); 3] = [("gzip", gzip), ("zstd", zstd), ("xz", xz)];

pub fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(octets: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(octets, ruzstd::encoding::CompressionLevel::Fastest)
}

pub fn xz(octets: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}
