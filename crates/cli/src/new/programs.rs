//! The server and the client of a new project.

use std::io::Write;
use std::process::{Command, Stdio};

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::imports::{Imports, ident};
use super::interfaces::{Generated, Served, Trait};

/// An interface as the programs speak of it.
struct Names {
    /// `Account`, or `BankAccount` where there are several of that name.
    camel: String,
    /// `account`: the object's id, and the variable.
    snake: String,
    /// `bank::Account`, for people.
    scoped: String,
}

fn names(generated: &Generated, served: &Served) -> Names {
    let last = |path: &[String]| path.last().map(|name| name.trim_start_matches("r#").to_owned());
    let name = last(&served.servant).unwrap_or_default();
    let alike = generated.served.iter().filter(|other| last(&other.servant).as_ref() == Some(&name)).count();
    let plain: Vec<_> = served.servant.iter().map(|name| name.trim_start_matches("r#")).collect();
    let camel = if alike > 1 { plain.join("_").to_upper_camel_case() } else { name };
    Names { snake: camel.to_snake_case(), scoped: plain.join("::"), camel }
}

/// Where servers listen at a TCP port unless told otherwise.
pub const ADDRESS: &str = "127.0.0.1:4567";

/// All addresses where servers listen unless told otherwise, and what is to be said of each: what carries calls there, and
/// who can call so.
pub const ADDRESSES: [(&str, &str, &str); 3] = [
    ("iiop://127.0.0.1:4567", "GIOP over TCP", "any CORBA client"),
    ("shm:", "shared memory", "clients of Throughline on this machine"),
    ("udp://127.0.0.1:4567", "UDP", "clients of Throughline on any machine that reaches the address"),
];

/// The file in which the server leaves the reference of its first object.
pub const REFERENCE_FILE: &str = "server.ior";

/// The id of the first object, under which a `corbaloc:` finds it.
pub fn first_object(generated: &Generated) -> Option<String> {
    generated.served.first().map(|served| names(generated, served).snake)
}

/// The source of the server: a servant for each interface, none of whose operations does anything yet.
pub fn server(generated: &Generated, krate: &str) -> syn::Result<String> {
    let mut imports = Imports::new(generated, krate);
    let servant = |served| format!("{}Servant", names(generated, served).camel);
    generated.served.iter().for_each(|served| imports.take(servant(served)));
    let (mut servants, mut activations) = (TokenStream::new(), TokenStream::new());
    for (number, served) in generated.served.iter().enumerate() {
        let Names { snake, scoped, .. } = names(generated, served);
        let servant = format_ident!("{}", servant(served));
        let doc = format!(" Implements `{scoped}`.");
        let implementations = generated.lineage(&served.servant);
        let implementations: TokenStream =
            implementations.into_iter().map(|of| implementation(&mut imports, of, &servant)).collect();
        servants.extend(quote! {
            #[doc = #doc]
            struct #servant;
            #implementations
        });
        let skeleton = imports.own(&served.skeleton);
        let text = format!("{snake} {{}}");
        // Before the line that tells that the server is ready.
        let left = (number == 0)
            .then(|| quote! { std::fs::write(#REFERENCE_FILE, reference.as_object().to_string())?; });
        activations.extend(quote! {
            let reference = orb.root().activate_with_id(#snake, #skeleton(#servant))?;
            #left
            println!(#text, reference.as_object());
        });
    }
    let exception = imports.runtime("SystemException");
    imports.need(&["Address", "Kind", "Orb", "TypedReference"]);
    let uses = imports.items();
    let doc = format!(
        " Serves the objects; prints the reference of each, and leaves the first in `{REFERENCE_FILE}`."
    );
    let addresses = ADDRESSES.map(|(address, ..)| address);
    let main = main("server", "serve");
    let tokens = quote! {
        #![doc = #doc]
        #![allow(unused_variables)]

        #uses

        #[doc = " Where to listen unless addresses are given. References tell them all, clients take the fastest that works."]
        const LISTEN: &[&str] = &[#(#addresses),*];

        #main

        fn serve() -> Result<(), Box<dyn std::error::Error>> {
            let given: Vec<String> = std::env::args().skip(1).collect();
            let listen: Result<Vec<Address>, _> = match given.as_slice() {
                [] => LISTEN.iter().map(|address| address.parse()).collect(),
                given => given.iter().map(|address| address.parse()).collect(),
            };
            let orb = Orb::listening_at(&listen?)?;
            #activations
            orb.run();
            Ok(())
        }

        #[doc = " What every operation answers until it is written."]
        fn not_implemented<E: From<#exception>>() -> E {
            #exception::from(Kind::NoImplement).into()
        }

        #servants
    };
    printed(tokens)
}

/// The function `main` of a program that does what another function does: it prints an error as people read it, which a
/// `Result` of `main` would not be.
fn main(program: &str, does: &str) -> TokenStream {
    let (does, text) = (ident(does), format!("{program}: {{error}}"));
    quote! {
        fn main() -> std::process::ExitCode {
            match #does() {
                Ok(()) => std::process::ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!(#text);
                    std::process::ExitCode::FAILURE
                }
            }
        }
    }
}

fn implementation(imports: &mut Imports<'_>, of: &Trait, servant: &proc_macro2::Ident) -> TokenStream {
    let module = &of.path[..of.path.len() - 1];
    let name = imports.own(&of.path);
    let methods = of.item.items.iter().filter_map(|item| match item {
        syn::TraitItem::Fn(method) => Some(&method.sig),
        _ => None,
    });
    let methods: Vec<_> = methods
        .map(|signature| {
            let mut signature = signature.clone();
            imports.rewrite(&mut signature, module);
            // Only oneways return nothing: there is nobody to tell.
            let body = match signature.output {
                syn::ReturnType::Default => quote! {},
                syn::ReturnType::Type(..) => quote! { Err(not_implemented()) },
            };
            quote! { #signature { #body } }
        })
        .collect();
    quote! { impl #name for #servant { #(#methods)* } }
}

/// The source of the client: it finds an object, says of which interface it is, and is ready to call it.
pub fn client(generated: &Generated, krate: &str) -> syn::Result<String> {
    let mut imports = Imports::new(generated, krate);
    let mut narrowing = TokenStream::new();
    // The most derived interfaces come last in IDL; they are asked for first.
    for served in generated.served.iter().rev() {
        let Names { snake, scoped, .. } = names(generated, served);
        let reference = imports.own(&served.reference);
        let variable = ident(&if snake_is_keyword(&snake) { format!("{snake}_") } else { snake });
        let text = format!("it is a {scoped}, called over {{}}");
        narrowing.extend(quote! {
            if let Some(#variable) = object.narrow::<#reference>()? {
                println!(#text, way(#variable.as_object()));
                return Ok(());
            }
        });
    }
    let reference = imports.runtime("ObjectRef");
    imports.need(&["Orb", "TypedReference"]);
    let uses = imports.items();
    let doc = format!(
        " Calls an object: the one whose reference is given, or the one that the server left in `{REFERENCE_FILE}`."
    );
    let missing = format!("there is no {REFERENCE_FILE} here, which the server leaves where it runs: {{e}}");
    let main = main("client", "call");
    let tokens = quote! {
        #![doc = #doc]

        #uses

        #main

        fn call() -> Result<(), Box<dyn std::error::Error>> {
            let reference = match std::env::args().nth(1) {
                Some(given) => given,
                None => std::fs::read_to_string(#REFERENCE_FILE).map_err(|e| format!(#missing))?,
            };
            let orb = Orb::client()?;
            let object = orb.string_to_object(&reference)?;
            if object.non_existent()? {
                return Err("the server has no such object".into());
            }
            #narrowing
            Err("the object is of no interface that this client knows".into())
        }

        #[doc = " Which way calls go: the fastest that the reference offers and that works from here."]
        fn way(object: &#reference) -> String {
            object.way().map_or_else(|| "nothing".to_owned(), |way| way.to_string())
        }
    };
    printed(tokens)
}

fn snake_is_keyword(name: &str) -> bool {
    syn::parse_str::<syn::Ident>(name).is_err() || ["orb", "object", "reference", "way"].contains(&name)
}

/// Formats a file as rustfmt would, and by rustfmt if it is there.
fn printed(tokens: TokenStream) -> syn::Result<String> {
    let source = prettyplease::unparse(&syn::parse2(tokens)?);
    let mut text = String::new();
    let mut before = "";
    for line in source.lines() {
        if parts(before, line) {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
        before = line;
    }
    Ok(by_rustfmt(&text).unwrap_or(text))
}

/// Whether an empty line belongs between two lines.
fn parts(before: &str, line: &str) -> bool {
    match line {
        _ if before.is_empty() => false,
        _ if before.starts_with("//!") || before.starts_with("#!") => !line.starts_with("#!"),
        _ if line.starts_with("    fn ") => before == "    }",
        _ if line.starts_with("use ") => false,
        _ => {
            before == "}"
                || before.starts_with("use ")
                || line.starts_with("///")
                || line.starts_with("impl ")
                || (line.starts_with("fn ") && !before.starts_with("///"))
        }
    }
}

fn by_rustfmt(source: &str) -> Option<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // rustfmt reads everything before it writes anything.
    child.stdin.take()?.write_all(source.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}
