//! Who connects with whom.

use crate::{LONG, Result, connect, everywhere, fabrics, receive, send};
use std::time::{Duration, Instant};
use throughline_vi::{ConnectError, MAX_DISCRIMINATOR, Nic, ResourceError, State, ViAttributes};

/// Asks for a connection, and lets `answer` deal with the request.
fn ask(
    nics: &[Nic; 2],
    attributes: &ViAttributes,
    answer: impl FnOnce(throughline_vi::ConnectionRequest) -> Result,
) -> Result<std::result::Result<(), ConnectError>> {
    let mut listener = nics[1].listen(b"x")?;
    let mut vi = nics[0].create_vi(attributes)?;
    std::thread::scope(|scope| {
        let active = scope.spawn(|| vi.connect(nics[1].address(), b"x", LONG));
        answer(listener.wait(LONG)?)?;
        Ok(active.join().expect("no panic"))
    })
}

#[test]
fn only_equal_levels_connect() -> Result {
    for fabric in fabrics() {
        for &active in fabric.levels {
            for &passive in fabric.levels {
                let nics = (fabric.nics)()?;
                let asked = ask(&nics, &ViAttributes::new(active), |request| {
                    assert_eq!(request.reliability(), active);
                    let mut vi = nics[1].create_vi(&ViAttributes::new(passive))?;
                    let accepted = request.accept(&mut vi);
                    assert_eq!(accepted.is_ok(), active == passive);
                    assert_eq!(vi.state() == State::Connected, active == passive);
                    Ok(())
                })?;
                match asked {
                    Ok(()) => assert_eq!(active, passive),
                    Err(ConnectError::ReliabilityMismatch) => assert_ne!(active, passive),
                    Err(other) => return Err(other.into()),
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_listener_may_reject() -> Result {
    everywhere(|fabric, level| {
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes::new(level);
        let rejected = ask(&nics, &attributes, |request| {
            request.reject();
            Ok(())
        })?;
        assert!(matches!(rejected, Err(ConnectError::Rejected)));
        Ok(())
    })
}

#[test]
fn a_vi_that_was_refused_may_try_again() -> Result {
    everywhere(|fabric, level| {
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes::new(level);
        let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
        vis[1].post_own_receives();
        assert!(matches!(vis[0].connect(nics[1].address(), b"x", LONG), Err(ConnectError::NobodyListens)));
        assert_eq!(vis[0].state(), State::Idle);
        connect(&nics, &mut vis)?;
        let [a, b] = &mut vis;
        assert!(matches!(a.connect(nics[1].address(), b"x", LONG), Err(ConnectError::NotIdle)));
        send(a, b"after all")?;
        assert_eq!(receive(b)?, b"after all");
        Ok(())
    })
}

#[test]
fn discriminators_tell_listeners_apart() -> Result {
    everywhere(|fabric, level| {
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes::new(level);
        let longest = [7; MAX_DISCRIMINATOR];
        let names: [&[u8]; 4] = [b"", b"one", b"\0\0", &longest];
        let mut listeners =
            names.iter().map(|name| nics[1].listen(name)).collect::<std::result::Result<Vec<_>, _>>()?;
        for (name, listener) in names.iter().zip(&mut listeners) {
            assert!(matches!(nics[1].listen(name), Err(ResourceError::AddressInUse)));
            let mut vi = nics[0].create_vi(&attributes)?;
            std::thread::scope(|scope| -> Result {
                scope.spawn(|| vi.connect(nics[1].address(), name, LONG));
                drop(listener.wait(LONG)?);
                Ok(())
            })?;
        }
        assert!(nics[1].listen(&[7; MAX_DISCRIMINATOR + 1]).is_err());
        let mut vi = nics[0].create_vi(&attributes)?;
        let too_long = vi.connect(nics[1].address(), &[7; MAX_DISCRIMINATOR + 1], LONG);
        assert!(matches!(too_long, Err(ConnectError::BadAddress)));
        drop(listeners);
        assert!(matches!(vi.connect(nics[1].address(), b"one", LONG), Err(ConnectError::NobodyListens)));
        Ok(())
    })
}

#[test]
fn nobody_waits_longer_than_asked() -> Result {
    everywhere(|fabric, level| {
        let nics = (fabric.nics)()?;
        let mut listener = nics[1].listen(b"x")?;
        let start = Instant::now();
        let short = Some(Duration::from_millis(20));
        assert!(matches!(listener.wait(short), Err(ConnectError::Timeout)));
        let mut vi = nics[0].create_vi(&ViAttributes::new(level))?;
        assert!(matches!(vi.connect(nics[1].address(), b"x", short), Err(ConnectError::Timeout)));
        assert!(start.elapsed() >= Duration::from_millis(40));
        assert!(start.elapsed() < Duration::from_secs(5));
        Ok(())
    })
}

#[test]
fn sizes_out_of_range_are_refused() -> Result {
    everywhere(|fabric, level| {
        let [nic, _] = (fabric.nics)()?;
        let good = ViAttributes::new(level);
        let bad = [
            ViAttributes { ring_lines: 100, ..good.clone() },
            ViAttributes { ring_lines: 8, ..good.clone() },
            ViAttributes { queue_depth: 0, ..good.clone() },
            ViAttributes { send_buffers: u32::MAX, send_buffer_size: u32::MAX, ..good.clone() },
            ViAttributes { receive_buffers: u32::MAX, receive_buffer_size: 1 << 20, ..good },
        ];
        for attributes in bad {
            assert!(matches!(nic.create_vi(&attributes), Err(ResourceError::OutOfRange(_))));
        }
        Ok(())
    })
}
