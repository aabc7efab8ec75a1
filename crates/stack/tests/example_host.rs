//! `examples/host.rs` does what it says.

mod kernel;

use std::{
    io::{Read, Write},
    net::{TcpStream, UdpSocket},
    process::{Child, Command},
    time::Duration,
};

use kernel::{in_namespace, ip, until};

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn it_echoes_and_shows_what_it_counted() {
    in_namespace(|| {
        // Cargo builds examples with tests, beside the folder of these.
        let here = std::env::current_exe().unwrap();
        let example = here.ancestors().nth(2).unwrap().join("examples/host");
        let started = Command::new(&example).args(["tl-host", "10.7.0.2/24"]).spawn();
        let mut host = Running(started.unwrap_or_else(|why| panic!("{}: {why}", example.display())));
        until("the interface is not there", || {
            assert_eq!(host.0.try_wait().unwrap(), None, "the example has ended");
            Command::new("ip").args(["link", "show", "tl-host"]).output().unwrap().status.success()
        });
        ip("address add 10.7.0.1/24 dev tl-host");
        ip("link set tl-host up");
        let socket = UdpSocket::bind("10.7.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket.send_to(b"good day", "10.7.0.2:7").unwrap();
        let mut place = [0; 100];
        let len = socket.recv(&mut place).unwrap();
        assert_eq!(&place[..len], b"good day");
        for _ in 0..3 {
            let mut stream = TcpStream::connect("10.7.0.2:80").unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: 10.7.0.2\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.contains("throughline_stack_messages_delivered_total 1\n"), "{answer}");
        }
    });
}
