//! The server of the demonstration: a process of its own, that ends when its standard input does.

use std::io::Read;
use std::time::Duration;

use throughline::{Address, Orb, Strategy, SystemException, TypedReference};
use throughline_naming::{NameServer, NamingConfig, client};

use super::idl::lookup::{HundredRef, Showroom, ShowroomSkeleton};
use super::{bank, hundred};
use crate::failure::{Failure, Result};
use crate::output;

/// Serve the demonstration's objects until standard input ends
#[derive(clap::Args)]
pub struct Arguments {
    /// Where to listen
    #[arg(long)]
    listen: Address,
}

struct Objects(Vec<(Strategy, Vec<HundredRef>)>);

impl Showroom for Objects {
    fn objects(&self, strategy: &str) -> std::result::Result<Vec<Option<HundredRef>>, SystemException> {
        let objects = self.0.iter().find(|(own, _)| own.name() == strategy);
        Ok(objects.map_or(Vec::new(), |(_, objects)| objects.iter().cloned().map(Some).collect()))
    }
}

/// Runs the server. The references of the office and the showroom are its first two lines.
pub fn run(arguments: &Arguments) -> Result {
    let failed = |what: &str, e: &dyn std::fmt::Display| Failure::new(format!("cannot {what}")).because(e);
    let native = [Address::Shm(String::new()), Address::Udp { host: "127.0.0.1".to_owned(), port: 0 }];
    let orb = Orb::listening_at(&[&[arguments.listen.clone()][..], &native].concat())
        .map_err(|e| failed("start the server", &e).next("choose another address with --listen"))?;
    let office = bank::open(orb.root()).map_err(|e| failed("open the bank", &e))?;
    let adapters = Strategy::ALL.map(|strategy| Ok((strategy, hundred::serve(orb.root(), strategy)?)));
    let objects = adapters.into_iter().collect::<std::result::Result<_, throughline::AdapterError>>();
    let objects = Objects(objects.map_err(|e| failed("activate the objects", &e))?);
    let showroom = orb.root().activate_with_id("showroom", ShowroomSkeleton(objects));
    let showroom = showroom.map_err(|e| failed("activate the showroom", &e))?;
    publish(&orb, office.as_object()).map_err(|e| failed("publish the bank's name", &e))?;
    output::line(&office.as_object().to_string());
    output::line(&showroom.as_object().to_string());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    orb.shutdown(Duration::from_secs(1));
    Ok(())
}

/// The server is a name service as well, where the bank is found.
fn publish(
    orb: &Orb,
    office: &throughline::ObjectRef,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let names = NameServer::start(orb, NamingConfig::default())?;
    names.root().bind_new_context(&client::parse_name("bank")?)?;
    Ok(names.root().bind(&client::parse_name("bank/office.object")?, Some(office))?)
}
