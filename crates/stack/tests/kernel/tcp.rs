//! TCP between smoltcp, on a device, and the kernel.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant as Clock};

use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use throughline_stack::{Device, Message, Pool};

use super::{KERNEL, OURS};

/// A device as smoltcp wants it.
struct Adapter<'a> {
    device: &'a mut dyn Device,
    pool: Pool,
}

impl phy::Device for Adapter<'_> {
    type RxToken<'t>
        = Received
    where
        Self: 't;
    type TxToken<'t>
        = Sender<'t>
    where
        Self: 't;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sender<'_>)> {
        let message = self.device.receive(&mut self.pool).unwrap()?;
        Some((Received(message), Sender { device: self.device, pool: &mut self.pool }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sender<'_>> {
        Some(Sender { device: self.device, pool: &mut self.pool })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = self.device.mtu() + 14;
        capabilities
    }
}

struct Received(Message);

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0.bytes())
    }
}

struct Sender<'a> {
    device: &'a mut dyn Device,
    pool: &'a mut Pool,
}

impl phy::TxToken for Sender<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut message = self.pool.take();
        message.append(&vec![0; len]).unwrap();
        let result = f(message.bytes_mut());
        // What finds no place is lost, as on any wire.
        if let Err((message, _)) = self.device.send(message, self.pool) {
            self.pool.give(message);
        }
        result
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// The kernel sends as many bytes and gets them back; what came is what was sent.
pub fn bulk(device: &mut dyn Device, len: usize) {
    let listener = TcpListener::bind((KERNEL, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    // The listener's namespace is this thread's; so is that of the stream it accepts, on whatever thread.
    let kernel = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut reader = stream.try_clone().unwrap();
        let writer = thread::spawn(move || {
            let mut stream = stream;
            stream.write_all(&pattern(len)).unwrap();
        });
        let mut back = vec![0; len];
        reader.read_exact(&mut back).unwrap();
        writer.join().unwrap();
        back
    });
    echo(device, port, len);
    assert!(kernel.join().unwrap() == pattern(len), "what came back is not what was sent");
}

/// Connects, and sends back what comes, so many bytes.
fn echo(device: &mut dyn Device, port: u16, len: usize) {
    let begun = Clock::now();
    let now = || Instant::from_micros(begun.elapsed().as_micros() as i64);
    let config = Config::new(HardwareAddress::Ethernet(device.hardware()));
    let mut adapter = Adapter { device, pool: Pool::new(2048, 32, 256) };
    let mut interface = Interface::new(config, &mut adapter, now());
    interface.update_ip_addrs(|all| all.push(IpCidr::new(OURS.into(), 24)).unwrap());
    let buffer = || tcp::SocketBuffer::new(vec![0; 256 << 10]);
    let mut sockets = SocketSet::new(Vec::new());
    let handle = sockets.add(tcp::Socket::new(buffer(), buffer()));
    let socket = sockets.get_mut::<tcp::Socket<'_>>(handle);
    socket.connect(interface.context(), (KERNEL, port), 40_000).unwrap();
    let (mut held, mut sent) = (Vec::new(), 0);
    while sent < len || sockets.get::<tcp::Socket<'_>>(handle).send_queue() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{sent} of {len} bytes");
        interface.poll(now(), &mut adapter, &mut sockets);
        adapter.device.flush().unwrap();
        let socket = sockets.get_mut::<tcp::Socket<'_>>(handle);
        if socket.can_recv() {
            socket.recv(|data| (data.len(), held.extend_from_slice(data))).unwrap();
        }
        if socket.can_send() && !held.is_empty() {
            let count = socket.send_slice(&held).unwrap();
            held.drain(..count);
            sent += count;
        }
    }
}
