//! The memory of another process.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    ops::Range,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::FileExt as _,
    },
    path::Path,
};

use amdgpu_uapi::Errno;
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use parking_lot::Mutex;

/// The memory of another process, by `/proc/self/mem` and `/proc/self/maps` as that process has opened them.
///
/// Thus nothing is reached with the rights of this process, and nothing by a number that another process may have by now: the
/// descriptors stand for the address space in which they were opened. When their process executes another program, perhaps one with
/// more rights, or ends, they lead nowhere (Linux 6.12 `fs/proc/base.c`, `proc_mem_open` and `mem_rw`).
///
/// Through such a descriptor the kernel reads and writes private pages whatever their protection is, so that is checked here, by the
/// list of areas. The list is read again whenever it does not permit an access. An area that the process has protected since is
/// therefore found out only then.
#[derive(Debug)]
pub struct ProcessMemory {
    memory: File,
    areas: Mutex<Areas>,
}

#[derive(Debug)]
struct Areas {
    file: File,
    /// In the order of their addresses.
    known: Vec<Area>,
}

impl ProcessMemory {
    /// Takes what a process says is its `/proc/self/mem`, open for reading and writing, and its `/proc/self/maps`.
    ///
    /// # Errors
    ///
    /// EINVAL if one is another file, access to which could block or have other effects.
    pub fn new(memory: OwnedFd, areas: OwnedFd) -> Result<Self, Errno> {
        if !is_proc(&memory, "mem") || !is_proc(&areas, "maps") {
            return Err(Errno::EINVAL);
        }
        let areas = Areas { file: areas.into(), known: Vec::new() };
        Ok(Self { memory: memory.into(), areas: Mutex::new(areas) })
    }

    /// Returns `true` if the address space exists: its process has neither ended nor executed another program.
    pub fn exists(&self) -> bool {
        // Nothing is at address 0, which is an error as long as anything could be.
        !matches!(self.memory.read_at(&mut [0], 0), Ok(0))
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// EFAULT unless all of them can be read.
    pub(crate) fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Errno> {
        if !self.permits(address, out.len(), |area| area.readable) {
            return Err(Errno::EFAULT);
        }
        self.memory.read_exact_at(out, address).map_err(|_| Errno::EFAULT)
    }

    /// Writes bytes.
    ///
    /// # Errors
    ///
    /// EFAULT unless all of them can be written.
    pub(crate) fn write(&self, address: u64, data: &[u8]) -> Result<(), Errno> {
        if !self.permits(address, data.len(), |area| area.writable) {
            return Err(Errno::EFAULT);
        }
        self.memory.write_all_at(data, address).map_err(|_| Errno::EFAULT)
    }

    /// Reads bytes up to the first that cannot be read, and returns how many.
    pub(crate) fn read_some(&self, address: u64, out: &mut [u8]) -> usize {
        let mut done = 0;
        while done < out.len() {
            match self.memory.read_at(&mut out[done..], address + done as u64) {
                Ok(read) if read > 0 => done += read,
                _ => break,
            }
        }
        done
    }

    /// Returns the area at an address, as it is now.
    pub(crate) fn area(&self, address: u64) -> Option<Area> {
        let mut areas = self.areas.lock();
        areas.refresh();
        areas.at(address).cloned()
    }

    /// Returns `true` if the areas of a range permit an access.
    fn permits(&self, address: u64, len: usize, is_fine: impl Fn(&Area) -> bool) -> bool {
        let Some(end) = address.checked_add(len as u64) else { return false };
        let mut areas = self.areas.lock();
        if areas.permit(address..end, &is_fine) {
            return true;
        }
        areas.refresh();
        areas.permit(address..end, &is_fine)
    }
}

impl Areas {
    /// Reads the list anew. That of a process that is gone is empty.
    fn refresh(&mut self) {
        let mut text = String::new();
        let read = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.read_to_string(&mut text));
        self.known.clear();
        if read.is_ok() {
            self.known.extend(text.lines().filter_map(Area::parse));
        }
    }

    fn at(&self, address: u64) -> Option<&Area> {
        let behind = self.known.partition_point(|area| area.range.start <= address);
        self.known[..behind].last().filter(|area| area.range.contains(&address))
    }

    fn permit(&self, range: Range<u64>, is_fine: impl Fn(&Area) -> bool) -> bool {
        let mut next = range.start;
        while next < range.end {
            match self.at(next) {
                Some(area) if is_fine(area) => next = area.range.end,
                _ => return false,
            }
        }
        true
    }
}

/// Returns `true` for a file of procfs with this name, of a process or one of its threads.
fn is_proc(fd: &OwnedFd, name: &str) -> bool {
    let is_there = fstatfs(fd.as_fd()).is_ok_and(|about| about.filesystem_type() == PROC_SUPER_MAGIC);
    let path = std::fs::read_link(format!("/proc/thread-self/fd/{}", fd.as_raw_fd()));
    is_there && path.is_ok_and(|path| is_of_process(&path, name))
}

fn is_of_process(path: &Path, name: &str) -> bool {
    let is_number =
        |parent: &Path| parent.file_name().is_some_and(|pid| pid.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    path.file_name().is_some_and(|last| last == name) && path.parent().is_some_and(is_number)
}

/// A line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) range: Range<u64>,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) is_file: bool,
}

impl Area {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?.as_bytes();
        let inode = words.nth(2)?;
        Some(Self {
            range: u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?,
            readable: rights.first() == Some(&b'r'),
            writable: rights.get(1) == Some(&b'w'),
            is_file: inode != "0",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;

    use super::*;

    fn own(name: &str) -> OwnedFd {
        let mut options = File::options();
        options.read(true).write(name == "mem").custom_flags(libc::O_CLOEXEC);
        options.open(format!("/proc/self/{name}")).unwrap().into()
    }

    fn memory() -> ProcessMemory {
        ProcessMemory::new(own("mem"), own("maps")).unwrap()
    }

    #[test]
    fn bytes_of_a_process_are_read_and_written_as_its_areas_permit() {
        static CONSTANT: [u8; 8] = [5; 8];
        let memory = memory();
        let mut bytes = vec![3_u8; 64];
        let address = bytes.as_mut_ptr().expose_provenance() as u64;
        let mut copy = [0; 64];
        memory.read(address, &mut copy).unwrap();
        assert_eq!(copy, [3; 64]);
        let constant = std::hint::black_box(&CONSTANT).as_ptr().expose_provenance() as u64;
        memory.read(constant, &mut copy[..8]).unwrap();
        assert_eq!(memory.write(constant, &[6; 8]), Err(Errno::EFAULT), "a constant is in an area that is read only");
        assert_eq!((copy[0], std::hint::black_box(&CONSTANT)[0]), (5, 5));
        for nowhere in [0, 0x10, 1 << 47, u64::MAX - 3] {
            assert_eq!(memory.read(nowhere, &mut copy), Err(Errno::EFAULT), "{nowhere:#x}");
            assert_eq!(memory.write(nowhere, &copy), Err(Errno::EFAULT), "{nowhere:#x}");
        }
        assert!(memory.exists());
    }

    #[test]
    fn other_files_are_no_memory() {
        let file: OwnedFd = File::open("/proc/self/status").unwrap().into();
        let null: OwnedFd = File::options().read(true).write(true).open("/dev/null").unwrap().into();
        let folder = std::env::temp_dir().join(format!("amdgpu-sim-mem-{}", std::process::id()));
        let named = folder.join("1");
        std::fs::create_dir_all(&named).unwrap();
        let mem: OwnedFd = File::create(named.join("mem")).unwrap().into();
        std::fs::remove_dir_all(&folder).unwrap();
        for (memory, areas) in [(file, own("maps")), (null, own("maps")), (mem, own("maps")), (own("maps"), own("mem"))]
        {
            assert_eq!(ProcessMemory::new(memory, areas).unwrap_err(), Errno::EINVAL);
        }
    }

    #[test]
    fn names_of_files_of_processes_are_told_from_others() {
        let is = |path| is_of_process(Path::new(path), "mem");
        assert!(is("/proc/7/mem") && is("/proc/7/task/8/mem"));
        assert!(!is("/proc/7/maps") && !is("/proc/sys/mem") && !is("/proc/7/mem (deleted)") && !is("mem"));
    }

    #[test]
    fn the_memory_of_a_process_that_is_gone_does_not_exist() {
        use std::process::{Command, Stdio};
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let open = |name, write| File::options().read(true).write(write).open(format!("/proc/{}/{name}", child.id()));
        let memory =
            ProcessMemory::new(open("mem", true).unwrap().into(), open("maps", false).unwrap().into()).unwrap();
        let area = |memory: &ProcessMemory| {
            memory.areas.lock().refresh();
            memory.areas.lock().known.iter().find(|area| area.writable).map(|area| area.range.start)
        };
        let address = area(&memory).unwrap();
        assert!(memory.exists() && memory.read(address, &mut [0; 8]).is_ok());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!memory.exists());
        assert_eq!(memory.read(address, &mut [0; 8]), Err(Errno::EFAULT));
        assert_eq!(memory.write(address, &[0; 8]), Err(Errno::EFAULT));
        assert_eq!((area(&memory), memory.area(address)), (None, None));
    }
}
