//! libpcap, opened when it is needed: the compiler of tcpdump's expressions, and the interpreter that is the reference.
//!
//! Nothing of it is linked, so that this builds, and runs until an expression is to be compiled, where there is none.
#![allow(unsafe_code, reason = "functions of C")]

use super::program::{Instruction, Program, ProgramError, SCRATCH};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

/// Names of the library: of Debian and all that follows it, and of others.
const NAMES: [&str; 2] = ["libpcap.so.0.8", "libpcap.so.1"];
/// Frames of Ethernet (`DLT_EN10MB`).
const ETHERNET: c_int = 1;
/// What programs return for a frame that they want: tcpdump's default.
const SNAPLEN: c_int = 262_144;
/// `PCAP_NETMASK_UNKNOWN`: expressions about broadcasts of IPv4 need one, and are refused.
const NO_NETMASK: u32 = u32::MAX;

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no libpcap.
    #[error("libpcap is needed for filter expressions: install it (Debian package `libpcap0.8`): {0}")]
    Missing(#[source] libloading::Error),
    /// libpcap does not understand the expression.
    #[error("{expression:?} is no filter expression: {reason}")]
    Expression {
        /// The expression.
        expression: String,
        /// What libpcap says.
        reason: String,
    },
    /// What libpcap made of it is not a program that is sure to end, as of `protochain`.
    #[error("{expression:?}: {reason}")]
    Program {
        /// The expression.
        expression: String,
        /// What is wrong.
        reason: ProgramError,
    },
}

/// `struct bpf_program`.
#[repr(C)]
struct RawProgram {
    len: c_uint,
    instructions: *mut RawInstruction,
}

/// `struct bpf_insn`.
#[derive(Clone, Copy)]
#[repr(C)]
struct RawInstruction {
    code: u16,
    jt: u8,
    jf: u8,
    k: u32,
}

/// `ld M[]` and `ldx M[]`.
const SCRATCH_LOADS: [u16; 2] = [0x60, 0x61];
/// Scratch memory is 0 at the start, but not in all versions of libpcap. `A` is.
const CLEAR_SCRATCH: [RawInstruction; SCRATCH] = {
    let mut stores = [RawInstruction { code: 0x02, jt: 0, jf: 0, k: 0 }; SCRATCH];
    let mut n = 0;
    while n < SCRATCH {
        stores[n].k = n as u32;
        n += 1;
    }
    stores
};

/// `pcap_t`, of which only the address is known.
type Handle = *mut c_void;

/// libpcap.
#[derive(Debug)]
pub struct Libpcap {
    open_dead: unsafe extern "C" fn(c_int, c_int) -> Handle,
    close: unsafe extern "C" fn(Handle),
    compile: unsafe extern "C" fn(Handle, *mut RawProgram, *const c_char, c_int, u32) -> c_int,
    free_code: unsafe extern "C" fn(*mut RawProgram),
    error: unsafe extern "C" fn(Handle) -> *const c_char,
    filter: unsafe extern "C" fn(*const RawInstruction, *const u8, c_uint, c_uint) -> c_uint,
    /// Behind the functions, which must not outlive it.
    _library: Library,
}

impl Libpcap {
    /// Opens it.
    ///
    /// # Errors
    /// [`CompileError::Missing`].
    pub fn open() -> Result<Self, CompileError> {
        // SAFETY: libpcap runs nothing of consequence when it is loaded.
        let open = |name: &str| unsafe { Library::new(name) };
        let library = open(NAMES[0]).or_else(|error| open(NAMES[1]).map_err(|_| error));
        Self::of(library.map_err(CompileError::Missing)?).map_err(CompileError::Missing)
    }

    fn of(library: Library) -> Result<Self, libloading::Error> {
        // SAFETY: the types are those of pcap(3PCAP), which have stayed the same since version 1.0.
        unsafe {
            Ok(Self {
                open_dead: *library.get(c"pcap_open_dead")?,
                close: *library.get(c"pcap_close")?,
                compile: *library.get(c"pcap_compile")?,
                free_code: *library.get(c"pcap_freecode")?,
                error: *library.get(c"pcap_geterr")?,
                filter: *library.get(c"bpf_filter")?,
                _library: library,
            })
        }
    }

    /// Compiles an expression as of tcpdump, such as `tcp port 80 and not host 10.0.0.1`, for frames of Ethernet. Names of
    /// hosts are looked up by the system, which may take its time.
    ///
    /// # Errors
    /// [`CompileError::Expression`] and [`CompileError::Program`].
    ///
    /// # Panics
    /// If there is no memory.
    pub fn compile(&self, expression: &str) -> Result<Program, CompileError> {
        let refused = |reason: String| CompileError::Expression { expression: expression.to_owned(), reason };
        let text = CString::new(expression).map_err(|error| refused(error.to_string()))?;
        let instructions = self.instructions(&text).map_err(refused)?;
        Program::new(&instructions)
            .map_err(|reason| CompileError::Program { expression: expression.to_owned(), reason })
    }

    fn instructions(&self, expression: &CStr) -> Result<Vec<Instruction>, String> {
        let mut raw = RawProgram { len: 0, instructions: std::ptr::null_mut() };
        // SAFETY: any numbers do. The handle is used by this thread alone and closed at the end.
        let handle = unsafe { (self.open_dead)(ETHERNET, SNAPLEN) };
        assert!(!handle.is_null(), "out of memory");
        // SAFETY: handle, program and expression are valid, and the expression ends with a 0.
        let result = unsafe { (self.compile)(handle, &mut raw, expression.as_ptr(), 1, NO_NETMASK) };
        let compiled = if result == 0 {
            // SAFETY: so many instructions are there until the program is freed, which is after they were copied.
            let raw = unsafe { std::slice::from_raw_parts(raw.instructions, raw.len as usize) };
            Ok(raw
                .iter()
                .map(|raw| Instruction { code: raw.code, jt: raw.jt, jf: raw.jf, k: raw.k })
                .collect())
        } else {
            // SAFETY: the text belongs to the handle, which is still open, and ends with a 0.
            Err(unsafe { CStr::from_ptr((self.error)(handle)) }.to_string_lossy().into_owned())
        };
        // SAFETY: freeing takes a program that was compiled, or one of no instructions; nothing refers to it or to the
        // handle any more.
        unsafe {
            (self.free_code)(&mut raw);
            (self.close)(handle);
        }
        compiled
    }

    /// What libpcap's own interpreter makes of a program: the reference for [`Program::run`].
    pub fn reference(&self, program: &Program) -> Reference<'_> {
        let raw = |i: &Instruction| RawInstruction { code: i.code, jt: i.jt, jf: i.jf, k: i.k };
        let program = program.instructions();
        let reads_scratch = program.iter().any(|instruction| SCRATCH_LOADS.contains(&instruction.code));
        let first = if reads_scratch { &CLEAR_SCRATCH[..] } else { &[] };
        Reference {
            library: self,
            instructions: first.iter().copied().chain(program.iter().map(raw)).collect(),
        }
    }
}

/// A program, run by libpcap.
#[derive(Debug)]
pub struct Reference<'a> {
    library: &'a Libpcap,
    instructions: Box<[RawInstruction]>,
}

impl std::fmt::Debug for RawInstruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {} {}", self.code, self.jt, self.jf, self.k)
    }
}

impl Reference<'_> {
    /// What the program returns for a frame.
    ///
    /// # Panics
    /// If the frame is longer than 4 GiB.
    pub fn run(&self, frame: &[u8]) -> u32 {
        let len = c_uint::try_from(frame.len()).expect("a frame");
        // SAFETY: the instructions were checked: jumps stay inside, the last one returns, scratch memory is in range. The
        // frame has so many bytes.
        unsafe { (self.library.filter)(self.instructions.as_ptr(), frame.as_ptr(), len, len) }
    }
}
