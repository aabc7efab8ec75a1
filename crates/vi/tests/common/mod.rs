//! VIs over UDP, as several tests need them.
#![allow(dead_code, missing_docs)]

use std::{
    error::Error,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};
use throughline_vi::{Nic, Reliability, SendDescriptor, Vi, ViAttributes};

pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

pub const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
pub const LONG: Option<Duration> = Some(Duration::from_secs(20));
pub const LEVELS: [Reliability; 2] = [Reliability::ReliableDelivery, Reliability::ReliableReception];

pub fn pair(level: Reliability) -> Result<[Vi; 2]> {
    let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
    let attributes = ViAttributes::new(level);
    let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    vis.iter_mut().for_each(Vi::post_own_receives);
    let mut listener = nics[1].listen(b"udp")?;
    let [a, b] = &mut vis;
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nics[1].address(), b"udp", LONG));
        listener.wait(LONG)?.accept(b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    Ok(vis)
}

pub fn descriptor(vi: &mut Vi, bytes: &[u8]) -> Result<SendDescriptor> {
    let mut buffer = vi.send_buffer().ok_or("no buffer")?;
    buffer.set_len(bytes.len());
    buffer.copy_from_slice(bytes);
    Ok(SendDescriptor::new(buffer))
}

pub fn send(vi: &mut Vi, bytes: &[u8]) -> Result {
    let descriptor = descriptor(vi, bytes)?;
    Ok(vi.post_send(descriptor.unsignaled())?)
}

pub fn receive(vi: &mut Vi) -> Result<Vec<u8>> {
    let completion = vi.receive_wait(LONG)?;
    completion.result?;
    let bytes = completion.buffer.to_vec();
    vi.post_receive(completion.buffer)?;
    Ok(bytes)
}
