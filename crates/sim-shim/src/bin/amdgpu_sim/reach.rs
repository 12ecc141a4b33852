//! Programs that the preload library does not reach.

use std::{
    env,
    ffi::OsStr,
    fmt,
    fs::{self, File},
    io::Read as _,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use nix::unistd::{getgid, getuid};

/// The reason why a program sees nothing of the preload library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutOfReach {
    /// No dynamic linker loads it, and so none loads the library.
    Static,
    /// The dynamic linker loads no library of another user's into it.
    SetUserId,
    /// Likewise, because its file has capabilities.
    Capabilities,
    /// It is for another processor than the library.
    Machine {
        /// The processor, in words.
        machine: String,
    },
    /// It has another C library than the preload library.
    Libc {
        /// Its dynamic linker.
        interpreter: PathBuf,
    },
}

impl fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static => f.write_str("is linked statically"),
            Self::SetUserId => f.write_str("is a set-user-id or set-group-id program"),
            Self::Capabilities => f.write_str("has file capabilities"),
            Self::Machine { machine } => write!(f, "is a program for {machine}"),
            Self::Libc { interpreter } => write!(f, "has another C library, whose linker is {}", interpreter.display()),
        }
    }
}

impl OutOfReach {
    /// Returns advice.
    pub(crate) const fn next_step(&self) -> &'static str {
        match self {
            Self::Static => {
                "link it dynamically: Rust's target is x86_64-unknown-linux-gnu, Go needs cgo and system calls through libc"
            }
            Self::SetUserId => "start a copy of it without these bits, or start it as the user that owns it",
            Self::Capabilities => "start a copy of it, which has none",
            Self::Machine { .. } => "start a build of it for the processor that this program is for",
            Self::Libc { .. } => "start a build of it for the GNU C library",
        }
    }
}

/// Bits of a mode.
const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;
/// Type of the program header that names the dynamic linker. Source: ELF, `PT_INTERP`.
const PT_INTERP: u32 = 3;
/// Size of a program header of a 64-bit ELF file, bytes.
const PROGRAM_HEADER: usize = 56;
/// Bytes of a file that are read. Headers are at the start; what lies elsewhere is not for a linker.
const HEAD: u64 = 1 << 16;
/// Scripts that run scripts, at most.
const DEPTH: usize = 4;

/// Looks at a command's program, and at the interpreter of a script. Returns its path; `None` if it is not found.
///
/// # Errors
///
/// [`OutOfReach`]. A file that cannot be read, or is no program, is not out of reach.
pub(crate) fn look(program: &OsStr) -> Result<Option<PathBuf>, OutOfReach> {
    let Some(path) = find(program) else { return Ok(None) };
    let mut file = path.clone();
    for _ in 0..DEPTH {
        let Some(head) = head(&file) else { break };
        if let Some(interpreter) = interpreter_of_script(&head) {
            // A script's own bits do nothing.
            file = interpreter;
            continue;
        }
        look_at_rights(&file)?;
        let own = head_of_this();
        look_at_elf(&head, own.as_deref())?;
        break;
    }
    Ok(Some(path))
}

/// Looks a command up as `execvp` does.
fn find(program: &OsStr) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.components().count() > 1 || named.is_absolute() {
        return Some(named.to_owned()).filter(|path| path.exists());
    }
    env::split_paths(&env::var_os("PATH")?).map(|directory| directory.join(named)).find(|path| path.is_file())
}

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

fn head_of_this() -> Option<Vec<u8>> {
    head(&env::current_exe().ok()?)
}

fn interpreter_of_script(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

/// Looks for rights that make the dynamic linker ignore LD_PRELOAD. Source: Linux `security/commoncap.c`,
/// `cap_bprm_creds_from_file`, whose `secureexec` becomes AT_SECURE.
fn look_at_rights(file: &Path) -> Result<(), OutOfReach> {
    let Ok(about) = fs::metadata(file) else { return Ok(()) };
    let is_set = |bit| about.mode() & bit != 0;
    if is_set(SET_USER_ID) && about.uid() != getuid().as_raw()
        || is_set(SET_GROUP_ID) && about.gid() != getgid().as_raw()
    {
        return Err(OutOfReach::SetUserId);
    }
    let mut value = [0; 64];
    let has_some = rustix::fs::getxattr(file, "security.capability", &mut value).is_ok();
    // Root has them all, and gains none.
    if has_some && !getuid().is_root() { Err(OutOfReach::Capabilities) } else { Ok(()) }
}

/// Compares the header of a program with that of this one.
fn look_at_elf(head: &[u8], own: Option<&[u8]>) -> Result<(), OutOfReach> {
    let kind = |head: &[u8]| Some((*head.get(4)?, <[u8; 2]>::try_from(head.get(18..20)?).ok()?));
    let Some((class, machine)) = head.starts_with(b"\x7fELF").then(|| kind(head)).flatten() else { return Ok(()) };
    if own.and_then(kind).is_some_and(|own| own != (class, machine)) {
        return Err(OutOfReach::Machine { machine: machine_name(class, u16::from_le_bytes(machine)) });
    }
    match linker(head) {
        Linker::Unknown => Ok(()),
        Linker::None => Err(OutOfReach::Static),
        Linker::Named(interpreter) => {
            let of_this = match own.map(linker) {
                Some(Linker::Named(own)) => Some(own),
                // A launcher that is itself static tells nothing of the library.
                _ => None,
            };
            let is_musl = interpreter.to_string_lossy().contains("/ld-musl");
            if is_musl || of_this.is_some_and(|own| own.file_name() != interpreter.file_name()) {
                return Err(OutOfReach::Libc { interpreter });
            }
            Ok(())
        }
    }
}

/// The dynamic linker of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Linker {
    /// The file is no 64-bit little-endian ELF file, or is cut off.
    Unknown,
    /// A static program has none.
    None,
    Named(PathBuf),
}

/// Returns a processor in words. Source: ELF, `EI_CLASS` and `e_machine`.
fn machine_name(class: u8, machine: u16) -> String {
    match (class, machine) {
        (1, 3) => "32-bit x86".to_owned(),
        (2, 62) => "x86-64".to_owned(),
        (1, 62) => "x86-64 with 32-bit addresses".to_owned(),
        (1, 40) => "32-bit Arm".to_owned(),
        (2, 183) => "64-bit Arm".to_owned(),
        (_, 243) => "RISC-V".to_owned(),
        (_, machine) => format!("another processor, number {machine} of ELF"),
    }
}

/// Returns the dynamic linker that an ELF file names.
fn linker(head: &[u8]) -> Linker {
    match interpreters(head).as_deref() {
        None => Linker::Unknown,
        Some([]) => Linker::None,
        Some([first, ..]) => Linker::Named(first.clone()),
    }
}

/// Returns the interpreters that a 64-bit little-endian ELF file names: one, or none.
fn interpreters(head: &[u8]) -> Option<Vec<PathBuf>> {
    let bytes = |at: usize, len: usize| head.get(at..at.checked_add(len)?);
    let number = |at: usize| usize::try_from(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?)).ok();
    if bytes(0, 6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let first = number(32)?;
    let count = u16::from_le_bytes(bytes(56, 2)?.try_into().ok()?);
    let mut found = Vec::new();
    for index in 0..usize::from(count) {
        let at = first.checked_add(index * PROGRAM_HEADER)?;
        if u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?) == PT_INTERP {
            let path = bytes(number(at + 8)?, number(at + 32)?)?;
            let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
            found.push(PathBuf::from(OsStr::from_bytes(path)));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const LINKER: &[u8] = b"/lib64/ld-linux-x86-64.so.2\0";

    fn elf(kinds: &[u32], linker: &[u8]) -> Vec<u8> {
        let headers = 64 + kinds.len() * PROGRAM_HEADER;
        let mut file = vec![0; headers];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[18] = 62;
        file[32] = 64;
        file[56] = kinds.len() as u8;
        for (index, kind) in kinds.iter().enumerate() {
            let at = 64 + index * PROGRAM_HEADER;
            file[at..][..4].copy_from_slice(&kind.to_le_bytes());
            file[at + 8..][..8].copy_from_slice(&(headers as u64).to_le_bytes());
            file[at + 32..][..8].copy_from_slice(&(linker.len() as u64).to_le_bytes());
        }
        [file, linker.to_vec()].concat()
    }

    #[test]
    fn a_program_without_a_dynamic_linker_is_static() {
        let own = elf(&[PT_INTERP], LINKER);
        let verdict = |kinds: &[u32]| look_at_elf(&elf(kinds, LINKER), Some(&own));
        assert_eq!(verdict(&[6, PT_INTERP, 1]), Ok(()));
        assert_eq!(verdict(&[6, 1]), Err(OutOfReach::Static));
    }

    #[test]
    fn another_c_library_or_processor_is_named() {
        let own = elf(&[PT_INTERP], LINKER);
        let musl = elf(&[PT_INTERP], b"/lib/ld-musl-x86_64.so.1\0");
        let interpreter = PathBuf::from("/lib/ld-musl-x86_64.so.1");
        assert_eq!(look_at_elf(&musl, Some(&own)), Err(OutOfReach::Libc { interpreter: interpreter.clone() }));
        assert_eq!(look_at_elf(&musl, None), Err(OutOfReach::Libc { interpreter }));
        // The same linker elsewhere, as in Nix.
        assert_eq!(look_at_elf(&elf(&[PT_INTERP], b"/nix/ld-linux-x86-64.so.2\0"), Some(&own)), Ok(()));
        for (class, machine, words) in [(1, 3, "32-bit x86"), (2, 183, "64-bit Arm"), (2, 99, "number 99")] {
            let mut other = own.clone();
            (other[4], other[18]) = (class, machine);
            let verdict = look_at_elf(&other, Some(&own)).unwrap_err();
            assert!(verdict.to_string().contains(words), "{verdict}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_no_whole_program() {
        let whole = elf(&[6, 1], &[]);
        for len in 0..whole.len() - PROGRAM_HEADER {
            assert_eq!(linker(&whole[..len]), Linker::Unknown, "{len} bytes");
        }
        assert_eq!(linker(b"#!/bin/sh\n"), Linker::Unknown);
        assert_eq!(look_at_elf(b"\x7fELF", None), Ok(()));
    }

    #[test]
    fn a_script_is_as_far_as_its_interpreter() {
        let path = |text: &[u8]| interpreter_of_script(text).map(|path| path.into_os_string().into_string().unwrap());
        assert_eq!(path(b"#! /bin/sh -e\nexit"), Some("/bin/sh".to_owned()));
        assert_eq!((path(b"#!\n"), path(b"exit")), (None, None));
        let script = env::temp_dir().join(format!("amdgpu-sim-script-{}", std::process::id()));
        fs::write(&script, "#!/sbin/ldconfig\n").unwrap();
        let looked = look(script.as_os_str());
        fs::remove_file(&script).unwrap();
        assert_eq!(looked, Err(OutOfReach::Static), "Debian's ldconfig is static");
    }

    #[test]
    fn a_set_user_id_program_of_this_user_is_within_reach() {
        let copy = env::temp_dir().join(format!("amdgpu-sim-setuid-{}", std::process::id()));
        fs::copy("/bin/true", &copy).unwrap();
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
        let own = look(copy.as_os_str());
        // To give a file away takes root.
        let given = std::os::unix::fs::chown(&copy, Some(65534), None);
        let _ = fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755));
        let others = look(copy.as_os_str());
        fs::remove_file(&copy).unwrap();
        assert!(own.is_ok(), "{own:?}");
        if given.is_ok() {
            assert_eq!(others, Err(OutOfReach::SetUserId));
        }
    }

    #[test]
    fn this_program_is_within_reach() {
        let program = env::current_exe().unwrap();
        assert_eq!(look(program.as_os_str()), Ok(Some(program)));
        assert_eq!(look(OsStr::new("no such program")), Ok(None));
    }
}
