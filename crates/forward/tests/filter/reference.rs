//! What programs answer is what they answer in libpcap.

use proptest::prelude::*;
use throughline_forward::{
    Packet,
    filter::{CompileError, Instruction, Program, View},
};

use crate::expressions;
use crate::frames::{frame, sent};
use crate::libpcap;
use crate::programs::program;

proptest! {
    #[test]
    fn random_programs(program in program(), frames in prop::collection::vec(frame(), 1..8)) {
        let Some(libpcap) = libpcap() else { return Ok(()) };
        let reference = libpcap.reference(&program);
        for frame in frames {
            prop_assert_eq!(program.run(&View::of(&frame).unwrap()), reference.run(&frame));
        }
    }

    /// Of a labelled frame, what it is without label.
    #[test]
    fn expressions_of_tcpdump(sent in prop::collection::vec(sent(), 1..8)) {
        let Some(libpcap) = libpcap() else { return Ok(()) };
        for expression in expressions::all() {
            let program = libpcap.compile(expression).unwrap();
            let reference = libpcap.reference(&program);
            for sent in &sent {
                let bytes = sent.bytes();
                let view = View::from(&Packet::of(&bytes).unwrap());
                prop_assert_eq!(program.run(&view), reference.run(&sent.frame), "{}", expression);
            }
        }
    }

    #[test]
    fn text_is_read_as_it_is_written(program in program()) {
        let again: Program = program.to_string().parse().unwrap();
        prop_assert_eq!(again.instructions(), program.instructions());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([0-9]{1,3} ){0,4}\n(([0-9]{1,4} [0-9] [0-9] [0-9]{1,2})\n){0,5}") {
        if let Ok(program) = text.parse::<Program>() {
            program.run(&View::of(&[0; 60]).unwrap());
        }
    }
}

#[test]
fn what_libpcap_does_not_understand_is_refused() {
    let Some(libpcap) = libpcap() else { return };
    for (expression, reason) in
        [("tcp prot 80", "syntax error"), ("host", "syntax error"), ("tcp\0", "nul byte")]
    {
        let Err(CompileError::Expression { reason: said, .. }) = libpcap.compile(expression) else {
            panic!("{expression:?}");
        };
        assert!(said.contains(reason), "{said}");
    }
    // It has a loop.
    let error = libpcap.compile("ip6 protochain 6").unwrap_err();
    assert!(matches!(error, CompileError::Program { .. }), "{error}");
    assert!(libpcap.compile("").unwrap().matches(&View::of(&[0; 14]).unwrap()), "all frames");
}

/// Loads whose place is beyond 4 GiB do not come round.
#[test]
fn loads_do_not_wrap() {
    let Some(libpcap) = libpcap() else { return };
    for load in [0x40, 0x48, 0x50] {
        let instructions = [(0x01, u32::MAX - 9), (load, 20), (0x16, 0)];
        let program =
            Program::new(&instructions.map(|(code, k)| Instruction { code, jt: 0, jf: 0, k })).unwrap();
        let frame = [7; 60];
        assert_eq!(
            (program.run(&View::of(&frame).unwrap()), libpcap.reference(&program).run(&frame)),
            (0, 0)
        );
    }
}

/// The command gives the same program.
#[test]
fn tcpdump_prints_what_is_compiled() {
    let Some(libpcap) = libpcap() else { return };
    for expression in expressions::all() {
        let tcpdump =
            std::process::Command::new("tcpdump").args(["-ddd", "-y", "EN10MB", expression]).output();
        let Ok(output) = tcpdump else { return crate::skipped("no tcpdump (Debian package `tcpdump`)") };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed: Program = String::from_utf8(output.stdout).unwrap().parse().unwrap();
        let compiled = libpcap.compile(expression).unwrap();
        assert_eq!(printed.instructions(), compiled.instructions(), "{expression}");
    }
}
