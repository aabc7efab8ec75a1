//! Configurations: what is right, and where what is wrong is.

use throughline_forward::{
    Assignment, BridgeSetup, ForwardConfig, Link, PortId, PortLabels, ProtocolKind, Role, Route, RouterSetup,
    SpanningTreeConfig,
};
use throughline_stack::smoltcp::wire::EthernetAddress;

const ROUTER: &str = r#"role = "router"
[[port]]
interface = "eth1"
addresses = ["10.0.1.1/24", "fd00:1::1/64"]
[[port]]
tap = "tap0"
addresses = ["10.0.2.1/24"]
labels = true
"#;

#[test]
fn a_router() {
    let config = ForwardConfig::parse(&format!(
        "{ROUTER}
[[route]]
to = \"0.0.0.0/0\"
via = \"10.0.2.9\"
[[route]]
to = \"fd00:2::/64\"
port = \"eth1\"
[[routing]]
protocol = \"rip\"
ports = [\"tap0\"]
password = \"secret\"
[[routing]]
protocol = \"link-state6\"
[flows]
places = 100
threaded = true
area = [\"10.0.0.0/8\", \"fd00::/16\"]
[[group]]
address = \"239.1.1.1\"
ports = [\"tap0\", \"eth1\"]
[multicast]
priority = 7
period_s = 0.5
"
    ))
    .unwrap();
    assert_eq!(config.ports[0].link, Link::Interface("eth1".to_owned()));
    assert_eq!(config.ports[1].link, Link::Tap("tap0".to_owned()));
    assert!(config.ports[1].labels.known && !config.ports[0].labels.known);
    let Role::Router(RouterSetup { config: router, routes, protocols, area, groups, multicast }) =
        config.role
    else {
        panic!("not a router")
    };
    assert!(router.threaded);
    assert_eq!(area.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.0.0.0/8", "fd00::/16"]);
    assert_eq!(groups, [("239.1.1.1".parse().unwrap(), vec![PortId(1), PortId(0)])]);
    let multicast = multicast.unwrap();
    assert_eq!((multicast.priority, multicast.period.total_millis()), (7, 500));
    assert_eq!(router.cache.places, 100);
    assert_eq!((protocols[0].kind, &protocols[0].ports[..]), (ProtocolKind::Rip, &[PortId(1)][..]));
    assert_eq!((protocols[1].kind, &protocols[1].ports[..]), (ProtocolKind::LinkState6, &[PortId(0)][..]));
    assert_eq!(routes[0].1, Route::Out { port: PortId(1), via: Some("10.0.2.9".parse().unwrap()) });
    assert_eq!(routes[1].1, Route::Out { port: PortId(0), via: None });
}

#[test]
fn addresses_that_a_router_can_have() {
    for (one, other) in
        [("10.0.2.0/31", "10.0.2.1/32"), ("fe80::1/64", "fe80::1/64"), ("10.0.2.1/25", "10.0.2.129/25")]
    {
        let text = ROUTER.replace("fd00:1::1/64", one).replace("10.0.2.1/24", other);
        assert!(ForwardConfig::parse(&text).is_ok(), "{text}");
    }
}

/// Those to prefixes of which others lie beside what is never routed.
#[test]
fn routes_to_much() {
    for to in ["0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "1.0.0.0/8", "240.0.0.0/4", "169.0.0.0/8"] {
        let text = format!("{ROUTER}[[route]]\nto = \"{to}\"\nvia = \"10.0.2.9\"\n");
        assert!(ForwardConfig::parse(&text).is_ok(), "{text}");
    }
    for to in ["::/0", "::/1", "8000::/1", "fc00::/7", "fe00::/8"] {
        let text = format!("{ROUTER}[[route]]\nto = \"{to}\"\nvia = \"fd00:1::9\"\n");
        assert!(ForwardConfig::parse(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_route_to_the_network_of_a_port_may_say_what_is_so_anyway() {
    let text = format!("{ROUTER}[[route]]\nto = \"10.0.1.0/24\"\nport = \"eth1\"\n");
    assert!(ForwardConfig::parse(&text).is_ok());
    let more = ROUTER.replace("fd00:1::1/64", "10.0.1.2/24");
    assert!(ForwardConfig::parse(&more).is_ok(), "two addresses on one network");
}

/// Another host may have on its link the address that we have on another.
#[test]
fn an_address_of_a_link_is_the_routers_there_only() {
    let ports = ROUTER.replace("fd00:1::1/64", "fe80::1/64").replace("10.0.2.1/24", "fe80::2/64");
    let route =
        |via: &str| format!("{ports}[[route]]\nto = \"fd00:9::/64\"\nport = \"tap0\"\nvia = \"{via}\"\n");
    let config = ForwardConfig::parse(&route("fe80::1")).unwrap();
    let Role::Router(RouterSetup { routes, .. }) = &config.role else { panic!("not a router") };
    assert_eq!(routes[0].1, Route::Out { port: PortId(1), via: Some("fe80::1".parse().unwrap()) });
    let error = ForwardConfig::parse(&route("fe80::2")).unwrap_err().to_string();
    assert!(error.contains("fe80::2 is the router itself"), "{error}");
}

/// Who speaks IPv6 has an address on the link though the file names none.
#[test]
fn routers_on_a_link_are_known_by_their_addresses_there() {
    let route = |more: &str| format!("{ROUTER}[[route]]\nto = \"fd00:9::/64\"\nvia = \"fe80::9\"\n{more}");
    let config = ForwardConfig::parse(&route("port = \"eth1\"\n")).unwrap();
    let Role::Router(RouterSetup { routes, .. }) = &config.role else { panic!("not a router") };
    assert_eq!(routes[0].1, Route::Out { port: PortId(0), via: Some("fe80::9".parse().unwrap()) });
    let error = ForwardConfig::parse(&route("port = \"tap0\"\n")).unwrap_err();
    assert!(error.what.contains("no address of that version"), "{error}");
    assert!(ForwardConfig::parse(&route("")).is_ok(), "on the only link where IPv6 is spoken");
    let both = route("").replace("10.0.2.1/24", "fd00:2::1/64");
    let error = ForwardConfig::parse(&both).unwrap_err();
    assert!(error.what.contains("may be on several links"), "{error}");
}

#[test]
fn labels_of_ports() {
    let labels = |text: &str| {
        let config = ForwardConfig::parse(&ROUTER.replace("labels = true", text)).unwrap();
        config.ports[1].labels
    };
    assert_eq!(labels("labels = true"), PortLabels::KNOWN);
    assert_eq!(labels("flow_labels = true"), PortLabels { flow_labels: true, ..PortLabels::UNKNOWN });
    for (name, new) in [("random", Assignment::Random), ("precomputed", Assignment::Precomputed)] {
        let of_port = PortLabels { new: Some(new), ..PortLabels::UNKNOWN };
        assert_eq!(labels(&format!("new_labels = \"{name}\"")), of_port);
    }
}

#[test]
fn a_bridge() {
    let text = "role = \"bridge\"\nport = [{ interface = \"a\" }, { interface = \"b\" }]\nbridge = { ageing_s = 10 }";
    let Role::Bridge(BridgeSetup { config: bridge, spanning_tree }) =
        ForwardConfig::parse(text).unwrap().role
    else {
        panic!("not a bridge")
    };
    assert_eq!(spanning_tree, None);
    assert_eq!((bridge.ageing.secs(), bridge.addresses), (10, 65_536));
    let text = text.replace("ageing_s = 10", "indices = { \"02:00:00:00:00:0a\" = 7 }");
    let config = ForwardConfig::parse(&text.replace("\"b\"", "\"b\", new_labels = \"assigned\"")).unwrap();
    assert_eq!(config.ports[1].labels.new, Some(Assignment::Assigned));
    let Role::Bridge(BridgeSetup { config: bridge, .. }) = config.role else { panic!("not a bridge") };
    assert_eq!(bridge.indices, [(EthernetAddress([2, 0, 0, 0, 0, 10]), 7)]);
}

#[test]
fn a_spanning_tree() {
    let parse = |tree: &str| {
        let text = format!(
            "role = \"bridge\"
             bridge = {{ spanning_tree = {{ {tree} }} }}
             port = [{{ interface = \"a\", path_cost = 19 }}, {{ interface = \"b\", hosts_only = true }}]"
        );
        let config = ForwardConfig::parse(&text).unwrap();
        let Role::Bridge(BridgeSetup { spanning_tree, .. }) = config.role else { panic!("not a bridge") };
        let ports: Vec<_> = config.ports.iter().map(|port| (port.path_cost, port.hosts_only)).collect();
        assert_eq!(ports, [(19, false), (4, true)]);
        spanning_tree.unwrap()
    };
    assert_eq!(parse(""), SpanningTreeConfig::default());
    let tree = parse("priority = 4096, max_age_s = 6, hello_s = 1, forward_delay_s = 4.5");
    assert_eq!((tree.priority, tree.max_age.secs(), tree.forward_delay.total_millis()), (4096, 6, 4500));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let bridge = |text: &str| {
        format!("role = \"bridge\"\nport = [{{ interface = \"a\" }}, {{ interface = \"b\", {text} }}]\n")
    };
    let group = |address: &str, port: &str| {
        format!("{ROUTER}[[group]]\naddress = \"{address}\"\nports = [\"{port}\"]\n")
    };
    let station = |text: &str| format!("{}bridge = {{ indices = {{ \"{text}\" = 1 }} }}", bridge(""));
    let tree = |text: &str| format!("{}bridge = {{ spanning_tree = {{ {text} }} }}", bridge(""));
    let many = |ports: usize| {
        let port = |n| format!("  {{ tap = \"t{n}\" }},\n");
        let ports: String = (1..ports).map(port).collect();
        format!(
            "role = \"bridge\"\nport = [{{ tap = \"t0\" }},\n{ports}]\nbridge = {{ spanning_tree = {{}} }}\n"
        )
    };
    let route = |text: &str| format!("{ROUTER}[[route]]\n{text}\n");
    let key =
        |id: u8, secret: &str| format!("key = {{ id = {id}, algorithm = \"md5\", secret = \"{secret}\" }}");
    let routing =
        |protocol: &str, key: String| format!("{ROUTER}[[routing]]\nprotocol = \"{protocol}\"\n{key}\n");
    let periods = |protocol: &str, text: &str| routing(protocol, format!("periods = {{ {text} }}"));
    let multicast = |key: String| format!("{ROUTER}[flows]\nthreaded = true\n[multicast]\n{key}\n");
    for (text, line, what) in [
        ("role = \"hub\"".to_owned(), 1, "unknown variant"),
        ("role = \"bridge\"".to_owned(), 1, "nothing to forward between"),
        ("role = \"bridge\"\nport = 7".to_owned(), 2, "invalid type"),
        (ROUTER.replace("labels", "lables"), 8, "unknown field"),
        (ROUTER.replace("tap = \"tap0\"", "tap = \"eth1\""), 5, "is a port already"),
        (ROUTER.replace("tap = \"tap0\"", "tap = \"a-name-much-too-long\""), 5, "1 to 15 bytes"),
        (ROUTER.replace("tap = \"tap0\"", ""), 5, "either an `interface` or a `tap`"),
        (ROUTER.replace("10.0.2.1/24", "10.0.2.1"), 7, "no address with a prefix length"),
        (ROUTER.replace("10.0.2.1/24", "224.0.0.9/24"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "10.0.2.255/24"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "10.0.2.0/24"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "0.0.0.1/24"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "127.0.0.1/24"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "::1/64"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "::ffff:10.0.2.1/120"), 7, "no address that a router can have"),
        (ROUTER.replace("10.0.2.1/24", "10.0.1.1/16"), 5, "has the address 10.0.1.1 already"),
        (ROUTER.replace("router", "bridge"), 4, "a bridge has no addresses"),
        (format!("{}[multicast]\npriority = 1\n", bridge("")), 3, "a bridge sends groups to all ports"),
        (format!("{}[flows]\nthreaded = true\n", bridge("")), 4, "a bridge has no routes"),
        (format!("{}[flows]\narea = [\"10.0.0.0/8\"]\n", bridge("")), 4, "a bridge has no routes"),
        (route("to = \"10.9.0.0/16\""), 9, "`via` a router or out of a `port`"),
        (route("to = \"10.9.0.0/16\"\nvia = \"10.8.0.1\""), 9, "on no network of a port"),
        (route("to = \"10.9.0.0/16\"\nvia = \"fd00:1::9\""), 9, "different versions"),
        (route("to = \"10.9.0.0/16\"\nport = \"eth7\""), 9, "no port `eth7`"),
        (route("to = \"10.9.0.0/16\"\nport = \"eth1\"\nvia = \"10.0.2.9\""), 9, "or not of that one"),
        (route("to = \"fd00:9::/64\"\nport = \"tap0\""), 9, "`tap0` has no address of that version"),
        (route("to = \"10.0.1.1/32\"\nport = \"tap0\""), 9, "10.0.1.1 is the router itself"),
        (route("to = \"224.0.0.0/4\"\nport = \"tap0\""), 9, "nothing is routed to 224.0.0.0/4"),
        (route("to = \"239.1.0.0/16\"\nvia = \"10.0.2.9\""), 9, "nothing is routed to 239.1.0.0/16"),
        (route("to = \"255.255.255.255/32\"\nport = \"tap0\""), 9, "nothing is routed to 255.255.255.255/32"),
        (route("to = \"127.0.0.0/8\"\nport = \"tap0\""), 9, "nothing is routed to 127.0.0.0/8"),
        (route("to = \"0.0.0.0/8\"\nport = \"tap0\""), 9, "nothing is routed to 0.0.0.0/8"),
        (route("to = \"169.254.7.0/24\"\nport = \"tap0\""), 9, "nothing is routed to 169.254.7.0/24"),
        (route("to = \"ff05::/16\"\nport = \"eth1\""), 9, "nothing is routed to ff05::/16"),
        (route("to = \"fe80::/64\"\nport = \"eth1\""), 9, "nothing is routed to fe80::/64"),
        (route("to = \"::1/128\"\nport = \"eth1\""), 9, "nothing is routed to ::1/128"),
        (route("to = \"fd00:1::/128\"\nport = \"eth1\""), 9, "fd00:1:: is the router itself"),
        (route("to = \"fd00:9::/64\"\nvia = \"fd00:1::\""), 9, "fd00:1:: is the router itself"),
        (route("to = \"10.0.1.255/32\"\nport = \"tap0\""), 9, "all on one of its networks"),
        (route("to = \"10.9.0.0/16\"\nvia = \"10.0.2.1\""), 9, "10.0.2.1 is the router itself"),
        (route("to = \"10.9.0.0/16\"\nvia = \"10.0.2.255\""), 9, "all on one of its networks"),
        (
            route(
                "to = \"10.9.0.0/16\"\nvia = \"10.0.2.9\"\n[[route]]\nto = \"10.9.7.0/16\"\nport = \"eth1\"",
            ),
            12,
            "a route to 10.9.0.0/16 already",
        ),
        (route("to = \"10.0.1.0/24\"\nvia = \"10.0.2.9\""), 9, "10.0.1.0/24 is the network of `eth1`"),
        (route("to = \"fd00:1::/64\"\nvia = \"fd00:1::9\""), 9, "fd00:1::/64 is the network of `eth1`"),
        (ROUTER.replace("10.0.2.1/24", "10.0.1.2/24"), 5, "10.0.1.0/24 is the network of `eth1` already"),
        (format!("{ROUTER}[[routing]]\nprotocol = \"ospf\"\n"), 10, "unknown variant"),
        (
            format!("{ROUTER}[[routing]]\nprotocol = \"ripng\"\nports = [\"tap0\"]\n"),
            9,
            "no address of that version",
        ),
        (format!("{ROUTER}[[routing]]\nprotocol = \"rip\"\nmetric = 16\n"), 9, "not between 1 and 15"),
        (format!("{ROUTER}[[routing]]\nprotocol = \"ripng\"\npassword = \"p\"\n"), 9, "either a `password`"),
        (
            format!("{ROUTER}[[routing]]\nprotocol = \"link-state\"\nperiods = {{ garbage_s = 60 }}\n"),
            9,
            "only RIP has the periods `garbage_s` and `triggered_s`",
        ),
        (periods("rip", "update_s = 30, timeout_s = 20"), 9, "`timeout_s` is to be longer than `update_s`"),
        (periods("ripng", "update_s = 30, timeout_s = 30"), 9, "after 30 s, before"),
        (periods("rip", "update_s = 180"), 9, "after 180 s, before"),
        (periods("link-state", "timeout_s = 9.5"), 9, "after 9.5 s, before"),
        (periods("link-state6", "update_s = 40"), 9, "after 40 s, before"),
        (routing("rip", "ports = [\"eth1\", \"tap0\", \"eth1\"]".to_owned()), 9, "`eth1` is named twice"),
        (
            format!("{}[[routing]]\nprotocol = \"rip\"\nports = [\"tap0\"]\n", routing("rip", String::new())),
            12,
            "runs on `tap0` already",
        ),
        (routing("link-state", key(0, "ours")), 9, "no key of id 0"),
        (multicast(key(0, "ours")), 11, "no key of id 0"),
        (routing("rip", key(0, "")), 9, "an empty `secret`"),
        (multicast(key(1, "")), 11, "an empty `secret`"),
        (ROUTER.replace("labels = true", "new_labels = \"assigned\""), 8, "for bridges"),
        (ROUTER.replace("labels = true", "new_labels = \"some\""), 8, "unknown variant"),
        (bridge("flow_labels = true"), 2, "changes no packets"),
        (bridge("path_cost = 0"), 2, "costs nothing"),
        (bridge("path_cost = 4"), 2, "this one takes no part in a spanning tree"),
        (bridge("hosts_only = true"), 2, "this one takes no part in a spanning tree"),
        // Who says so takes it for part of one.
        (bridge("hosts_only = false"), 2, "a spanning tree: a bridge with `[bridge.spanning_tree]` does"),
        (
            format!("{}bridge = {{ ageing_s = 1 }}", bridge("hosts_only = true")),
            2,
            "this one takes no part in a spanning tree",
        ),
        (ROUTER.replace("labels = true", "path_cost = 4"), 8, "no part in the spanning tree"),
        (ROUTER.replace("labels = true", "hosts_only = true"), 8, "no part in the spanning tree"),
        (tree("max_age_s = 5"), 3, "times that would not do"),
        (tree("forward_delay_s = 4"), 3, "at most 2 * (forward_delay_s - 1)"),
        (tree("hello_s = -1"), 3, "times that would not do"),
        (tree("root = true"), 3, "unknown field"),
        (many(4_096), 4_099, "4096 ports: a bridge of a spanning tree has 4095 at most"),
        (station("02:00:00:00:00"), 3, "no address of a station"),
        (station("ff:ff:ff:ff:ff:ff"), 3, "no address of a station"),
        (
            station("02:00:00:00:00:0A\" = 2, \"02-00-00-00-00-0a"),
            3,
            "the station 02-00-00-00-00-0a has an index already",
        ),
        (format!("{ROUTER}[flows]\narea = [\"10.0.0.0/8\"]\n"), 10, "set `threaded`"),
        (format!("{ROUTER}[multicast]\npriority = 1\n"), 9, "set `threaded`"),
        (group("224.0.0.9", "eth1"), 9, "no group that routers send on"),
        (group("10.0.0.9", "eth1"), 9, "no group that routers send on"),
        (
            format!("{}[[group]]\naddress = \"239.1.1.1\"\nports = [\"tap0\"]\n", group("239.1.1.1", "eth1")),
            12,
            "the group 239.1.1.1 already",
        ),
        (group("239.1.1.1", "eth7"), 9, "no port `eth7`"),
        (format!("{ROUTER}[flows]\nplaces = 0\n"), 10, "not between 1 and"),
        (format!("{ROUTER}[flows]\nlifetime_s = {}\n", i64::MAX), 10, "not between 0 and 1000000000 seconds"),
        (format!("{}bridge = {{ ageing_s = {} }}\n", bridge(""), i64::MAX), 3, "not between 0 and"),
        (format!("{}bridge = {{ addresses = 16777217 }}\n", bridge("")), 3, "more than 16777216 addresses"),
        (format!("{ROUTER}[bridge]\nageing_s = 1\n"), 9, "this is a router"),
    ] {
        let fault = ForwardConfig::parse(&text).unwrap_err();
        assert!(fault.what.contains(what), "{fault} for {text}");
        assert_eq!(fault.line, line, "{fault} for {text}");
    }
}
