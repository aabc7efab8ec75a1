//! `throughline new`: a project that serves and calls the interfaces of an IDL file.

mod imports;
mod interfaces;
mod programs;

use std::fs;
use std::path::{Path, PathBuf};

use throughline_idl::{Config, Output};

use self::interfaces::Generated;
use crate::failure::{Failure, Result};
use crate::output::{self, line};

/// Make a ready project from an IDL file: server, client, build script
///
/// The server has a servant for each interface, whose operations answer NO_IMPLEMENT until you write them.
#[derive(clap::Args)]
#[command(after_help = "Example:
  throughline new teller --idl bank.idl
  cd teller && cargo run --bin server")]
pub struct Arguments {
    /// The folder to make; its name is the package's
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// The interfaces
    #[arg(long, value_name = "F.idl")]
    idl: PathBuf,
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Take Throughline from this source checkout. Default: the one this command was built from, if it is there
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let name = package_name(&arguments.folder)?;
    check_idl_name(&arguments.idl)?;
    let mut config = Config::new();
    arguments.include.iter().for_each(|dir| _ = config.include_dir(dir));
    let compiled = config.generate(&arguments.idl).map_err(|diagnostics| {
        output::tell(&diagnostics.to_string());
        Failure::new(format!("{} does not compile", arguments.idl.display()))
            .next("correct it; `throughline idl` checks it again")
    })?;
    let krate = name.replace('-', "_");
    let generated = read(&compiled, &arguments.idl)?;
    let internal = |e: syn::Error| Failure::new("the programs cannot be written").because(e);
    let project = Project { arguments, name: &name, compiled: &compiled };
    let files = [
        ("Cargo.toml", project.manifest()?),
        ("build.rs", project.build_script()),
        (".gitignore", format!("/target\n/{}\n", programs::REFERENCE_FILE)),
        ("src/lib.rs", project.library()),
        ("src/bin/server.rs", programs::server(&generated, &krate).map_err(internal)?),
        ("src/bin/client.rs", programs::client(&generated, &krate).map_err(internal)?),
        ("README.md", project.readme(programs::first_object(&generated).as_deref())),
    ];
    let copies = project.idl_copies()?;
    fs::create_dir(&arguments.folder).map_err(|e| {
        let next = "choose a name that is free, in a folder that you may write to";
        Failure::new(format!("cannot make {}", arguments.folder.display())).because(e).next(next)
    })?;
    for (file, text) in &files {
        project.write(Path::new(file), text.as_bytes())?;
    }
    for (target, source) in &copies {
        project.write(target, &fs::read(source).map_err(|e| cannot("read", source, &e))?)?;
    }
    let folder = arguments.folder.display();
    let interfaces = match generated.served.len() {
        1 => "1 interface".to_owned(),
        several => format!("{several} interfaces"),
    };
    line(&format!("made {folder} with {interfaces} of {}", arguments.idl.display()));
    line(&format!("next: cd {folder} && cargo run --bin server, and cargo run --bin client beside it"));
    Ok(())
}

fn cannot(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("cannot {what} {}", path.display())).because(cause)
}

/// The name of the folder, if Cargo takes it as a package's.
fn package_name(folder: &Path) -> Result<String> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let plain =
        !name.starts_with('-') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    // `syn` does not know the keyword of the edition of 2024.
    let keyword = name == "gen" || syn::parse_str::<syn::Ident>(&name.replace('-', "_")).is_err();
    // Cargo's lock file has one package of a name, and the project depends on several of ours.
    let ours = name == "throughline" || name.starts_with("throughline-");
    if !plain || keyword || ours || ["std", "core", "test"].contains(&name) {
        return Err(Failure::usage(format!("`{name}` cannot be a package's name"))
            .because("it is reserved, begins with a digit or -, or has characters other than letters, digits, - and _")
            .next("choose another name, such as `teller`"));
    }
    Ok(name.to_owned())
}

/// The name of the IDL file goes into sources and text, where not everything is meant as it is written.
fn check_idl_name(idl: &Path) -> Result {
    let name = idl.file_name().unwrap_or_default();
    let plain =
        name.to_str().is_some_and(|name| !name.contains(|c: char| c.is_control() || "\"\\".contains(c)));
    if plain {
        return Ok(());
    }
    Err(Failure::usage(format!("`{}` cannot be the name of a project's IDL file", idl.display()))
        .because("it is no UTF-8, or has control characters, quotes or backslashes")
        .next("rename it, to `bank.idl` say"))
}

fn read(compiled: &Output, idl: &Path) -> Result<Generated> {
    let generated = Generated::read(&compiled.source)
        .map_err(|e| Failure::new("the IDL compiler's output cannot be read").because(e))?;
    if generated.served.is_empty() {
        return Err(Failure::usage(format!("{} has no interface that can be served", idl.display()))
            .next("name a file that defines an interface which is neither local nor abstract"));
    }
    Ok(generated)
}

struct Project<'a> {
    arguments: &'a Arguments,
    name: &'a str,
    compiled: &'a Output,
}

impl Project<'_> {
    fn write(&self, file: &Path, contents: &[u8]) -> Result {
        let file = self.arguments.folder.join(file);
        let made = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, contents));
        made.map_err(|e| cannot("write", &file, &e))
    }

    fn idl_name(&self) -> String {
        self.arguments.idl.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn manifest(&self) -> Result<String> {
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let checkout = self.arguments.path.clone().or_else(|| is_checkout(&built_from).then_some(built_from));
        let dependency = |folder: &str| match &checkout {
            Some(root) => {
                let root = fs::canonicalize(root).ok().filter(|root| is_checkout(root)).ok_or_else(|| {
                    Failure::usage(format!("{} is not a checkout of Throughline", root.display()))
                        .next("pass the folder that has crates/orb with --path")
                })?;
                // Debug writes a string that TOML reads as well.
                Ok(format!("{{ path = {:?} }}", root.join("crates").join(folder)))
            }
            None => Ok(format!("{:?}", env!("CARGO_PKG_VERSION"))),
        };
        let alone = if self.in_a_workspace() { "\n[workspace]\n" } else { "" };
        Ok(format!(
            "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nthroughline = {}\n\n\
             [build-dependencies]\nthroughline-idl = {}\n{alone}",
            self.name,
            dependency("orb")?,
            dependency("idl")?,
        ))
    }

    /// Whether Cargo would take the project for a part of a workspace around it.
    fn in_a_workspace(&self) -> bool {
        let folder = std::path::absolute(&self.arguments.folder).unwrap_or_default();
        folder.ancestors().skip(1).any(|above| {
            // However it is written: `[workspace.package]` alone makes one, too.
            fs::read_to_string(above.join("Cargo.toml")).is_ok_and(|text| text.contains("workspace"))
        })
    }

    fn build_script(&self) -> String {
        let compile = if self.arguments.include.is_empty() {
            format!("throughline_idl::compile(\"idl/{}\")", self.idl_name())
        } else {
            format!(
                "throughline_idl::Config::new().include_dir(\"idl/include\").compile(\"idl/{}\")",
                self.idl_name()
            )
        };
        format!(
            "//! Compiles the IDL.\n\nfn main() -> Result<(), throughline_idl::CompileError> {{\n    {compile}\n}}\n"
        )
    }

    fn library(&self) -> String {
        let stem = self.arguments.idl.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        format!(
            "//! The interfaces of {}, compiled by `build.rs`.\n\ninclude!(concat!(env!(\"OUT_DIR\"), \"/{stem}.rs\"));\n",
            self.idl_name()
        )
    }

    fn readme(&self, object: Option<&str>) -> String {
        let (name, idl, file) = (self.name, self.idl_name(), programs::REFERENCE_FILE);
        let (address, object) = (programs::ADDRESS, object.unwrap_or_default());
        let include = if self.arguments.include.is_empty() { "" } else { " -I idl/include" };
        let rows = programs::ADDRESSES
            .map(|(address, carrier, whom)| format!("| `{address}` | {carrier} | {whom} |\n"));
        let rows = rows.concat();
        format!(
            "# {name}

Serves and calls the interfaces of `idl/{idl}` with Throughline.

    cargo run --bin server    # prints a reference for each object, leaves the first in {file}
    cargo run --bin client    # calls that object, and says which way the call went

Operations are to be written in `src/bin/server.rs`; until then they answer `NO_IMPLEMENT`.

## Which way calls go

| address | carried by | for |
|---|---|---|
{rows}
The server listens at these, the list `LISTEN` in `src/bin/server.rs`, or at those given to it. A reference tells all of
them, and a client takes the fastest that works from where it is: its code is the same for all.

    # a server at one address, and a client whose reference tells of IIOP only, as every corbaloc does
    cargo run --bin server -- iiop://{address}
    cargo run --bin client -- corbaloc::1.2@{address}/{object}
    # from the shell: what can be called, and how long a call takes
    throughline call @{file} --idl idl/{idl}{include}
    throughline call @{file} _non_existent --count 1000 --transport shm
",
        )
    }

    /// Where in the project each file that was read goes.
    fn idl_copies(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        let beside = self.arguments.idl.parent().unwrap_or(Path::new(""));
        let place = |file: &PathBuf| {
            let included = self.arguments.include.iter().find_map(|dir| file.strip_prefix(dir).ok());
            let target = match (included, file.strip_prefix(beside)) {
                (_, Ok(rest)) if rest.as_os_str() == self.idl_name().as_str() => Path::new("idl").join(rest),
                (Some(rest), _) => Path::new("idl/include").join(rest),
                (None, Ok(rest)) => Path::new("idl").join(rest),
                (None, Err(_)) => PathBuf::from(".."),
            };
            let inside = target.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            match inside {
                true => Ok((target, file.clone())),
                false => Err(Failure::usage(format!("{} is outside of every folder given", file.display()))
                    .next("name the folder from which it is included with -I")),
            }
        };
        self.compiled.files.iter().map(place).collect()
    }
}

fn is_checkout(root: &Path) -> bool {
    root.join("crates/orb/Cargo.toml").is_file() && root.join("crates/idl/Cargo.toml").is_file()
}
