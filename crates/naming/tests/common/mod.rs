//! A name service and a client of it, each with an ORB of its own.
#![allow(dead_code, missing_docs)]

use std::time::Duration;

use throughline::{Address, ObjectRef, Orb, OrbConfig};
use throughline_naming::cos_naming::{NameComponent, NamingContextExtRef};
use throughline_naming::{NameServer, NamingConfig, client};

pub struct Service {
    pub orb: Orb,
    pub port: u16,
}

impl Service {
    pub fn start(config: NamingConfig) -> Self {
        Self::start_at(0, config)
    }

    pub fn start_at(port: u16, config: NamingConfig) -> Self {
        let orb = Orb::listening_at(&[Address::tcp("127.0.0.1", port)]).unwrap();
        NameServer::start(&orb, config).unwrap();
        let [Address::Tcp { port, .. }] = orb.addresses()[..] else { panic!() };
        Self { orb, port }
    }

    pub fn url(&self) -> String {
        format!("corbaloc::1.2@127.0.0.1:{}/NameService", self.port)
    }

    pub fn root(&self, client: &Orb) -> NamingContextExtRef {
        client.string_to_object(&self.url()).unwrap().narrow().unwrap().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.orb.shutdown(Duration::from_millis(200));
    }
}

pub fn start() -> (Service, Orb, NamingContextExtRef) {
    let service = Service::start(NamingConfig::default());
    let client = orb();
    let root = service.root(&client);
    (service, client, root)
}

pub fn orb() -> Orb {
    let call_timeout = Some(Duration::from_secs(20));
    Orb::start(OrbConfig { call_timeout, ..OrbConfig::default() }).unwrap()
}

pub fn name(text: &str) -> Vec<NameComponent> {
    client::parse_name(text).unwrap()
}

/// A reference to nothing.
pub fn thing(orb: &Orb, key: &str) -> ObjectRef {
    orb.string_to_object(&format!("corbaloc::127.0.0.1:9/{key}")).unwrap()
}
