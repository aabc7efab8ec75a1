//! Programs of the classic BSD Packet Filter, checked.

use super::{
    op::{self, Op},
    run,
    view::View,
};
use std::{fmt, str::FromStr};

/// The most instructions of a program, as in Linux.
pub const MAX_INSTRUCTIONS: usize = 4096;
/// Words of scratch memory that a program has.
pub(super) const SCRATCH: usize = 16;

/// An instruction as it is written in `struct bpf_insn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What to do.
    pub code: u16,
    /// Instructions to leave out if a test holds.
    pub jt: u8,
    /// Instructions to leave out if it does not.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}

/// Why instructions are no program. Instructions are numbered from 0, lines from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// More than [`MAX_INSTRUCTIONS`], or none.
    #[error("a program has 1 to {MAX_INSTRUCTIONS} instructions, not {0}")]
    Length(usize),
    /// The code is none of classic BPF.
    #[error("instruction {at}: {code:#x} is no instruction")]
    Unknown {
        /// Which instruction.
        at: usize,
        /// Its code.
        code: u16,
    },
    /// A jump leaves the program or goes back, so that it might never end.
    #[error("instruction {0}: the jump goes back or out of the program")]
    Jump(usize),
    /// There are 16 words of scratch memory.
    #[error("instruction {0}: no such word of scratch memory")]
    Scratch(usize),
    /// A division by the constant 0, or a shift by 32 bits or more.
    #[error("instruction {0}: a division by 0, or a shift by more bits than there are")]
    Operand(usize),
    /// The last instruction does not return.
    #[error("the last instruction does not return")]
    NoReturn,
    /// Not the text that `tcpdump -ddd` prints.
    #[error("line {0} is not as `tcpdump -ddd` prints it")]
    Text(usize),
}

/// A program that is known to end and to touch nothing but the frame and its own memory: jumps go forward and stay inside,
/// the last instruction returns, scratch memory and constants are in range.
#[derive(Clone)]
pub struct Program {
    instructions: Box<[Instruction]>,
    ops: Box<[Op]>,
}

impl Program {
    /// Checks instructions.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn new(instructions: &[Instruction]) -> Result<Self, ProgramError> {
        let len = instructions.len();
        if len == 0 || len > MAX_INSTRUCTIONS {
            return Err(ProgramError::Length(len));
        }
        let decode = |(at, instruction)| op::decode(at, instruction, len);
        let mut ops = instructions.iter().enumerate().map(decode).collect::<Result<Box<[_]>, _>>()?;
        if !matches!(ops[len - 1], Op::Return(_) | Op::ReturnA) {
            return Err(ProgramError::NoReturn);
        }
        op::fuse(&mut ops);
        Ok(Self { instructions: instructions.into(), ops })
    }

    /// What the program returns for a frame: how many bytes of it are wanted, 0 if none. It is 0 as well if the program reads
    /// beyond the end of the frame, or divides by 0.
    #[inline]
    pub fn run(&self, frame: &View<'_>) -> u32 {
        run::run(&self.ops, frame)
    }

    /// Whether the program wants the frame.
    #[inline]
    pub fn matches(&self, frame: &View<'_>) -> bool {
        self.run(frame) != 0
    }

    /// The instructions.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    pub(super) fn ops(&self) -> &[Op] {
        &self.ops
    }
}

/// Reads what `tcpdump -ddd EXPRESSION` prints: the number of instructions, then a line of four numbers for each.
impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        let mut lines = text.lines().enumerate();
        let count = lines.next().and_then(|(_, line)| line.trim().parse::<usize>().ok());
        let count = count.ok_or(ProgramError::Text(1))?;
        let instructions = lines
            .map(|(n, line)| instruction(line).ok_or(ProgramError::Text(n + 1)))
            .collect::<Result<Vec<_>, _>>()?;
        if instructions.len() != count {
            return Err(ProgramError::Text(instructions.len() + 1));
        }
        Self::new(&instructions)
    }
}

fn instruction(line: &str) -> Option<Instruction> {
    let mut numbers = line.split_ascii_whitespace();
    let instruction = Instruction {
        code: numbers.next()?.parse().ok()?,
        jt: numbers.next()?.parse().ok()?,
        jf: numbers.next()?.parse().ok()?,
        k: numbers.next()?.parse().ok()?,
    };
    numbers.next().is_none().then_some(instruction)
}

/// As `tcpdump -ddd` prints it.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.instructions.len())?;
        let mut all = self.instructions.iter();
        all.try_for_each(|Instruction { code, jt, jf, k }| writeln!(f, "{code} {jt} {jf} {k}"))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.instructions).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tcpdump -ddd arp`.
    const ARP: &str = "4\n40 0 0 12\n21 0 1 2054\n6 0 0 262144\n6 0 0 0\n";

    #[test]
    fn text_is_read_and_written() {
        let program: Program = ARP.parse().unwrap();
        assert_eq!(program.to_string(), ARP);
        let mut frame = [0; 14];
        frame[12..].copy_from_slice(&[8, 6]);
        assert_eq!(program.run(&View::of(&frame).unwrap()), 262_144);
        frame[13] = 0;
        assert_eq!(program.run(&View::of(&frame).unwrap()), 0);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        use ProgramError::*;
        let refused = [
            ("", Text(1)),
            ("0\n", Length(0)),
            ("2\n6 0 0 0\n", Text(2)),
            ("1\n6 0 0\n", Text(2)),
            ("1\n6 0 0 0 0\n", Text(2)),
            ("1\n6 0 0 -1\n", Text(2)),
            ("1\n40 0 0 12\n", NoReturn),
            ("1\n14 0 0 0\n", Unknown { at: 0, code: 14 }),
            ("2\n21 0 1 0\n6 0 0 0\n", Jump(0)),
            ("2\n5 0 0 1\n6 0 0 0\n", Jump(0)),
            ("2\n5 0 0 4294967295\n6 0 0 0\n", Jump(0)),
            ("2\n96 0 0 16\n6 0 0 0\n", Scratch(0)),
            ("2\n2 0 0 4294967295\n6 0 0 0\n", Scratch(0)),
            ("2\n52 0 0 0\n6 0 0 0\n", Operand(0)),
            ("2\n148 0 0 0\n6 0 0 0\n", Operand(0)),
            ("2\n100 0 0 32\n6 0 0 0\n", Operand(0)),
        ];
        for (text, error) in refused {
            assert_eq!(text.parse::<Program>().unwrap_err(), error, "{text:?}");
        }
        let long = vec![Instruction { code: 6, jt: 0, jf: 0, k: 0 }; MAX_INSTRUCTIONS + 1];
        assert_eq!(Program::new(&long).unwrap_err(), Length(MAX_INSTRUCTIONS + 1));
        assert!(Program::new(&long[1..]).is_ok());
    }
}
