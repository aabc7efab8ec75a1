//! What each operation answers, right and wrong.

mod common;

use common::{name, start, thing};
use throughline::{Kind, Orb, OrbConfig, SystemException};
use throughline_naming::cos_naming::naming_context::{NotFound, NotFoundReason};
use throughline_naming::cos_naming::{
    NameComponent, NamingContextBindContextError, NamingContextBindError, NamingContextBindNewContextError,
    NamingContextDestroyError, NamingContextExtResolveStrError, NamingContextExtToNameError,
    NamingContextExtToStringError, NamingContextExtToUrlError, NamingContextRebindContextError,
    NamingContextRebindError, NamingContextResolveError, NamingContextUnbindError,
};

/// The exception is `NotFound` with this reason and rest.
macro_rules! assert_not_found {
    ($result:expr, $error:ident, $why:ident, $rest:expr) => {
        match $result {
            Err($error::NotFound(NotFound { why: NotFoundReason::$why, rest_of_name })) => {
                assert_eq!(rest_of_name, name($rest));
            }
            other => panic!("{other:?}"),
        }
    };
}

#[test]
fn bindings_are_made_found_and_removed() {
    let (_service, client, root) = start();
    let (one, two) = (thing(&client, "one"), thing(&client, "two"));
    root.bind(&name("x"), Some(&one)).unwrap();
    root.bind(&name("x.kind"), Some(&two)).unwrap();
    root.bind(&name(".kind"), None).unwrap();
    root.bind(&name("."), Some(&one)).unwrap();
    assert_eq!(root.resolve(&name("x")).unwrap().unwrap().ior(), one.ior());
    assert_eq!(root.resolve(&name("x.kind")).unwrap().unwrap().ior(), two.ior());
    assert_eq!(root.resolve(&name(".kind")).unwrap(), None);
    assert!(matches!(root.bind(&name("x"), Some(&two)), Err(NamingContextBindError::AlreadyBound(_))));
    root.rebind(&name("x"), Some(&two)).unwrap();
    assert_eq!(root.resolve(&name("x")).unwrap().unwrap().ior(), two.ior());
    root.unbind(&name("x")).unwrap();
    assert_not_found!(root.resolve(&name("x")), NamingContextResolveError, MissingNode, "x");
    assert_not_found!(root.unbind(&name("x")), NamingContextUnbindError, MissingNode, "x");
}

#[test]
fn names_lead_through_contexts_only() {
    let (_service, client, root) = start();
    let one = thing(&client, "one");
    let a = root.bind_new_context(&name("a")).unwrap().unwrap();
    root.bind_new_context(&name("a/b")).unwrap();
    root.bind(&name("a/b/x"), Some(&one)).unwrap();
    assert_eq!(a.resolve(&name("b/x")).unwrap().unwrap().ior(), one.ior());
    assert_not_found!(root.resolve(&name("a/c/x")), NamingContextResolveError, MissingNode, "c/x");
    assert_not_found!(root.resolve(&name("a/b/x/y")), NamingContextResolveError, NotContext, "x/y");
    assert_not_found!(root.bind(&name("q/x"), Some(&one)), NamingContextBindError, MissingNode, "q/x");
    let made = root.bind_new_context(&name("q/x"));
    assert_not_found!(made, NamingContextBindNewContextError, MissingNode, "q/x");
    let again = root.bind_new_context(&name("a/b"));
    assert!(matches!(again, Err(NamingContextBindNewContextError::AlreadyBound(_))));
    // A context that is bound as any object is an object.
    root.bind(&name("object"), Some(&a.clone().into())).unwrap();
    assert_not_found!(root.resolve(&name("object/b")), NamingContextResolveError, NotContext, "object/b");
    // Each sort of binding is replaced by its own sort.
    assert_not_found!(root.rebind(&name("a"), Some(&one)), NamingContextRebindError, NotObject, "a");
    let other = root.rebind_context(&name("object"), Some(&a));
    assert_not_found!(other, NamingContextRebindContextError, NotContext, "object");
    root.rebind_context(&name("a/b"), Some(&a)).unwrap();
    // A circle of contexts: names end all the same.
    assert_eq!(root.resolve(&name("a/b/b/b")).unwrap().unwrap().object_key(), a.object_key_of());
    let nil = root.bind_context(&name("nil"), None);
    assert!(matches!(nil, Err(NamingContextBindContextError::System(e)) if e.kind == Kind::BadParam));
}

/// The key of a typed reference.
trait KeyOf {
    fn object_key_of(&self) -> Vec<u8>;
}

impl<R: throughline::TypedReference> KeyOf for R {
    fn object_key_of(&self) -> Vec<u8> {
        self.as_object().object_key()
    }
}

#[test]
fn contexts_end_empty() {
    let (_service, client, root) = start();
    let made = root.new_context().unwrap().unwrap();
    root.bind_context(&name("made"), Some(&made)).unwrap();
    let taken = root.bind_context(&name("made"), Some(&made));
    assert!(matches!(taken, Err(NamingContextBindContextError::AlreadyBound(_))));
    root.bind(&name("made/x"), Some(&thing(&client, "x"))).unwrap();
    assert!(matches!(made.destroy(), Err(NamingContextDestroyError::NotEmpty(_))));
    made.unbind(&name("x")).unwrap();
    made.destroy().unwrap();
    let gone = made.destroy();
    assert!(matches!(gone, Err(NamingContextDestroyError::System(e)) if e.kind == Kind::ObjectNotExist));
    // It is still bound; nobody can go on through it.
    assert!(root.resolve(&name("made")).unwrap().is_some());
    match root.resolve(&name("made/x")) {
        Err(NamingContextResolveError::CannotProceed(e)) => {
            assert_eq!(e.rest_of_name, name("x"));
            assert_eq!(e.cxt.unwrap().object_key_of(), made.object_key_of());
        }
        other => panic!("{other:?}"),
    }
    let kept = root.destroy();
    assert!(matches!(kept, Err(NamingContextDestroyError::System(e)) if e.kind == Kind::NoPermission));
}

#[test]
fn invalid_names_are_refused_by_every_operation() {
    let (_service, client, root) = start();
    let object = thing(&client, "x");
    let context = root.new_context().unwrap();
    let part = |id: &str| NameComponent { id: id.to_owned(), kind: String::new() };
    let long = vec![part("a"); 1000];
    let wide = vec![part(&"a".repeat(10_000))];
    for bad in [&[][..], &long, &wide] {
        assert!(matches!(root.bind(bad, Some(&object)), Err(NamingContextBindError::InvalidName(_))));
        assert!(matches!(root.rebind(bad, Some(&object)), Err(NamingContextRebindError::InvalidName(_))));
        let bound = root.bind_context(bad, context.as_ref());
        assert!(matches!(bound, Err(NamingContextBindContextError::InvalidName(_))));
        let bound = root.rebind_context(bad, context.as_ref());
        assert!(matches!(bound, Err(NamingContextRebindContextError::InvalidName(_))));
        assert!(matches!(root.resolve(bad), Err(NamingContextResolveError::InvalidName(_))));
        assert!(matches!(root.unbind(bad), Err(NamingContextUnbindError::InvalidName(_))));
        let made = root.bind_new_context(bad);
        assert!(matches!(made, Err(NamingContextBindNewContextError::InvalidName(_))));
        assert!(matches!(root.to_string(bad), Err(NamingContextExtToStringError::InvalidName(_))));
    }
}

#[test]
fn names_as_text() {
    let (_service, client, root) = start();
    let odd = vec![NameComponent { id: "a.b/c\\d".into(), kind: "e".into() }, NameComponent::default()];
    let text = root.to_string(&odd).unwrap();
    assert_eq!(text, "a\\.b\\/c\\\\d.e/.");
    assert_eq!(root.to_name(&text).unwrap(), odd);
    for bad in ["", "a//b", "a\\x", "a.", "a.b.c", "/a"] {
        assert!(matches!(root.to_name(bad), Err(NamingContextExtToNameError::InvalidName(_))), "{bad}");
        let found = root.resolve_str(bad);
        assert!(matches!(found, Err(NamingContextExtResolveStrError::InvalidName(_))), "{bad}");
    }
    root.bind_new_context(&name("bank")).unwrap();
    root.bind(&name("bank/teller.object"), Some(&thing(&client, "t"))).unwrap();
    assert!(root.resolve_str("bank/teller.object").unwrap().is_some());
    assert_not_found!(root.resolve_str("bank/x"), NamingContextExtResolveStrError, MissingNode, "x");
}

#[test]
fn urls() {
    let (service, client, root) = start();
    assert_eq!(root.to_url(":myhost:9999/key", "a/b.c").unwrap(), "corbaname::myhost:9999/key#a/b.c");
    assert_eq!(root.to_url(":h", "a b#c").unwrap(), "corbaname::h#a%20b%23c");
    for bad in ["", "nonsense", ":host:port", "x:y", ":h#"] {
        let url = root.to_url(bad, "a");
        assert!(matches!(url, Err(NamingContextExtToUrlError::InvalidAddress(_))), "{bad}");
    }
    let url = root.to_url(":h", "a//b");
    assert!(matches!(url, Err(NamingContextExtToUrlError::InvalidName(_))));
    // What it makes, a client can use.
    let one = thing(&client, "one");
    root.bind(&name("a b#c/d\\.e".split('/').next().unwrap()), Some(&one)).unwrap();
    let url = root.to_url(&format!(":127.0.0.1:{}", service.port), "a b#c").unwrap();
    assert_eq!(client.string_to_object(&url).unwrap().ior(), one.ior());
    let missing = client.string_to_object(&url.replace("%23c", "")).unwrap_err();
    assert!(missing.to_string().contains("NotFound"), "{missing}");
}

#[test]
fn corbaname_finds_contexts_and_objects() {
    let (service, client, root) = start();
    root.bind_new_context(&name("bank")).unwrap();
    let one = thing(&client, "one");
    root.bind(&name("bank/one"), Some(&one)).unwrap();
    let at = format!("corbaname::127.0.0.1:{}", service.port);
    assert_eq!(client.string_to_object(&format!("{at}#bank/one")).unwrap().ior(), one.ior());
    let whole = client.string_to_object(&at).unwrap();
    assert!(whole.is_a("IDL:omg.org/CosNaming/NamingContext:1.0").unwrap());
    let unknown: SystemException = client.string_to_object(&format!("{at}#none")).unwrap_err();
    assert_eq!(unknown.kind, Kind::BadParam);
}

#[test]
fn initial_references_may_build_on_others_but_not_on_themselves() {
    let (service, client, root) = start();
    root.bind_new_context(&name("bank")).unwrap();
    let one = thing(&client, "one");
    root.bind(&name("bank/one"), Some(&one)).unwrap();
    let url = service.url();
    let initial_references = [
        ("NameService", url.as_str()),
        ("Bank", "corbaname:rir:#bank"),
        ("One", " corbaname:rir:/Bank#one"),
        ("Same", "corbaloc:rir:/One"),
        ("Elsewhere", "corbaloc::127.0.0.1:9/bazarir:x"),
        ("Itself", "corbaname:rir:/Itself#one"),
        ("There", "corbaloc:rir:/Back"),
        ("Back", "corbaloc:rir:/There"),
        ("Circle", "corbaloc:rir:/There"),
        ("Nowhere", "corbaname:rir:/Nobody#one"),
    ];
    let initial_references = initial_references.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let orb = Orb::start(OrbConfig { initial_references, ..OrbConfig::default() }).unwrap();
    for name in ["One", "Same"] {
        assert_eq!(orb.resolve_initial_reference(name).unwrap().ior(), one.ior());
    }
    assert_eq!(orb.string_to_object("corbaname:rir:#bank/one").unwrap().ior(), one.ior());
    assert_eq!(orb.resolve_initial_reference("Elsewhere").unwrap().object_key(), b"bazarir:x");
    for (name, why) in [
        ("Itself", "`Itself` leads back to itself"),
        ("There", "leads back to itself"),
        ("Circle", "leads back to itself"),
        ("Nowhere", "no initial reference `Nobody` is configured"),
    ] {
        let error = orb.resolve_initial_reference(name).unwrap_err();
        assert!(error.kind == Kind::BadParam && error.to_string().contains(why), "{name}: {error}");
    }
}
