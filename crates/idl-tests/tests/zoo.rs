//! Inheritance along two ways, reopened modules, abstract and local interfaces.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use common::served;
use throughline::rt::{Skeleton, SystemException, TypedReference};
use throughline_idl_tests::inheritance::farm::{Goose, GooseRef};
use throughline_idl_tests::inheritance::zoo::base::{Gone, Named, NamedRef};
use throughline_idl_tests::inheritance::zoo::duck::{FEET, Mood, Moods, Upset};
use throughline_idl_tests::inheritance::zoo::*;

#[derive(Default)]
struct Bird {
    pace: AtomicI32,
    dives: AtomicI32,
}

impl Named for Bird {
    fn name(&self) -> Result<String, SystemException> {
        Ok("Donald".to_owned())
    }
}

impl Walker for Bird {
    fn pace(&self) -> Result<i32, SystemException> {
        Ok(self.pace.load(Ordering::Relaxed))
    }

    fn set_pace(&self, value: i32) -> Result<(), SystemException> {
        self.pace.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError> {
        if steps > 100 { Err(Gone { why: "too far".to_owned() }.into()) } else { Ok(steps * self.pace()?) }
    }
}

impl Swimmer for Bird {
    fn dive(&self) {
        self.dives.fetch_add(1, Ordering::Relaxed);
    }

    fn swim(
        &self,
        others: &[Option<LaterRef>],
    ) -> Result<(Option<LaterRef>, Option<LaterRef>), SystemException> {
        Ok((others.last().cloned().flatten(), others.first().cloned().flatten()))
    }
}

impl Duck for Bird {
    fn quack(&self, how: Mood) -> Result<Moods, DuckQuackError> {
        match how {
            Mood::Calm => Ok(vec![how; FEET as usize]),
            Mood::Cross => Err(Upset { why: how }.into()),
        }
    }

    fn temper(&self) -> Result<Mood, SystemException> {
        Ok(Mood::Calm)
    }

    fn set_temper(&self, _: Mood) -> Result<(), SystemException> {
        Ok(())
    }
}

impl Goose for Bird {
    fn honk(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl Gander for Bird {
    fn hiss(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn inherited_operations_of_all_bases() {
    let bird = Arc::new(Bird::default());
    served(GanderSkeleton(Arc::clone(&bird)), |_, gander| {
        gander.hiss().unwrap();
        gander.honk().unwrap();
        assert_eq!(gander.name().unwrap(), "Donald");
        gander.set_pace(3).unwrap();
        assert_eq!(gander.walk(4).unwrap(), 12);
        assert_eq!(gander.walk(101).unwrap_err().to_string(), "Zoo::Base::Gone { why: \"too far\" }");
        assert_eq!(gander.quack(Mood::Calm).unwrap().len(), 2);
        assert_eq!(gander.quack(Mood::Cross).unwrap_err(), Upset { why: Mood::Cross }.into());
        gander.set_temper(Mood::Cross).unwrap();
        assert_eq!(gander.temper().unwrap(), Mood::Calm);
        assert_eq!(gander.swim(&[None]).unwrap(), (None, None));
        gander.dive().unwrap();
        assert_eq!(NamedRef::from(gander.clone()).name().unwrap(), "Donald");
        assert_eq!(SwimmerRef::from(DuckRef::from(gander.clone())).swim(&[]).unwrap(), (None, None));
        let object = gander.as_object();
        assert!(GooseRef::narrow(object).unwrap().is_some() && WalkerRef::narrow(object).unwrap().is_some());
        assert!(LaterRef::narrow(object).unwrap().is_none());
    });
    assert_eq!(bird.dives.load(Ordering::Relaxed), 4);
}

#[test]
fn a_base_reached_twice_is_in_the_table_once() {
    let interface = GanderSkeleton(Bird::default()).interface();
    let names = interface.operations.names();
    assert_eq!(names.iter().filter(|it| **it == "_get_name").count(), 1);
    let ids = ["Zoo/Gander", "Farm/Goose", "Zoo/Duck", "Zoo/Walker", "Zoo/Base/Named", "Zoo/Swimmer"];
    let prefixed = ids.map(|it| format!("IDL:example.org/{it}:1.0"));
    assert_eq!(interface.ancestors, prefixed);
}

struct Marble(i32);

impl Describable for Marble {
    fn describe(&self) -> Result<String, SystemException> {
        Ok(format!("{} metres", self.0))
    }
}

impl Statue for Marble {
    fn height(&self) -> Result<i32, SystemException> {
        Ok(self.0)
    }
}

struct House;

impl Museum for House {
    fn show(
        &self,
        what: Option<&DescribableRef>,
        beside: &mut Exhibit,
    ) -> Result<Option<DescribableRef>, SystemException> {
        assert_eq!(what.map(DescribableRef::describe).transpose()?.as_deref(), Some("5 metres"));
        Ok(beside.what.take())
    }
}

#[test]
fn references_to_abstract_interfaces() {
    served(StatueSkeleton(Marble(5)), |_, statue| {
        let statue = DescribableRef::from(statue.clone());
        served(MuseumSkeleton(House), |_, museum| {
            let mut beside = Exhibit { what: Some(statue.clone()) };
            let shown = museum.show(Some(&statue), &mut beside).unwrap().unwrap();
            assert_eq!((shown.describe().unwrap().as_str(), beside.what), ("5 metres", None));
        });
    });
}

struct Boss;

impl Keeper for Boss {
    fn favourite(&self) -> Result<Option<DuckRef>, SystemException> {
        Ok(None)
    }

    fn set_favourite(&self, _: Option<&DuckRef>) -> Result<(), SystemException> {
        Ok(())
    }

    fn deputy(
        &self,
        other: Option<Arc<dyn Keeper>>,
        name: &str,
    ) -> Result<Option<Arc<dyn Keeper>>, KeeperDeputyError> {
        if name.is_empty() { Err(Gone { why: "nameless".to_owned() }.into()) } else { Ok(other) }
    }

    fn feed(&self, all: &[Option<DuckRef>], fish: &mut i32) -> Result<(), SystemException> {
        *fish -= all.len() as i32;
        Ok(())
    }
}

#[test]
fn local_interfaces_are_plain_traits() {
    let boss: Arc<dyn Keeper> = Arc::new(Boss);
    assert!(boss.deputy(Some(Arc::clone(&boss)), "x").unwrap().is_some());
    assert!(matches!(boss.deputy(None, ""), Err(KeeperDeputyError::Gone(_))));
    let mut fish = 3;
    boss.feed(&[None], &mut fish).unwrap();
    assert_eq!((fish, boss.favourite().unwrap()), (2, None));
}
