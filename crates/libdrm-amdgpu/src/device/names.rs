//! Names for users, from the table `amdgpu.ids` that libdrm installs.

use std::{
    ffi::{CString, OsStr},
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use amdgpu_winsys::uapi::{DevInfo, IdsFlags};
use libdrm_amdgpu_sys::AMDGPU;
use nix::unistd::{AccessFlags, access};

use crate::{border::complain, environment};

const TABLE: &str = "amdgpu.ids";
const USUAL_FOLDER: &str = "/usr/share/libdrm";
const UNKNOWN: &[u8] = b"AMD Radeon Graphics";
/// The longest table that is read.
const LONGEST: u64 = 16 << 20;

/// Returns the name of a GPU: that of the table; for an APU without entry that of its processor; or a general one. Without a table the
/// names are those of this library.
pub(super) fn of_gpu(dev: &DevInfo) -> CString {
    let folders = environment::variable("AMDGPU_ASIC_ID_TABLE_PATHS");
    let path = table(folders.as_deref().map_or(&[], OsStr::as_bytes));
    let of_table = match read(&path) {
        Ok(text) => match search(&text, dev.device_id, dev.pci_rev) {
            Ok(name) => name,
            Err(Malformed { line, text }) => {
                let (path, text) = (path.display(), String::from_utf8_lossy(&text).into_owned());
                complain(format_args!("Invalid format: {path}: line {line}: {text}"));
                None
            }
        },
        Err(()) => AMDGPU::find_device_name(dev.device_id, dev.pci_rev).map(String::into_bytes),
    };
    let is_apu = IdsFlags::from_bits_retain(dev.ids_flags).contains(IdsFlags::FUSION);
    let of_processor = || fs::read("/proc/cpuinfo").ok().and_then(|text| of_processor(&text));
    let name = of_table.or_else(|| if is_apu { of_processor() } else { None }).unwrap_or_else(|| UNKNOWN.to_vec());
    CString::new(name).unwrap_or_default()
}

/// Returns the path of the table: in the first folder of the list that has a readable one, or where libdrm installs it.
fn table(folders: &[u8]) -> PathBuf {
    let usual = Path::new(USUAL_FOLDER).join(TABLE);
    if folders.is_empty() {
        return usual;
    }
    let listed = folders.split(|&byte| byte == b':').map(|folder| Path::new(OsStr::from_bytes(folder)).join(TABLE));
    listed.into_iter().find(|path| access(path, AccessFlags::R_OK).is_ok()).unwrap_or(usual)
}

fn read(path: &Path) -> Result<Vec<u8>, ()> {
    use std::io::Read as _;
    let mut text = Vec::new();
    fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut text)).map_err(drop)?;
    Ok(text)
}

/// A line of the table that is no entry, before the one that was looked for.
#[derive(Debug, PartialEq, Eq)]
struct Malformed {
    line: usize,
    text: Vec<u8>,
}

/// Finds the name of a device. The first line that is neither empty nor a comment is the version.
fn search(text: &[u8], device: u32, revision: u32) -> Result<Option<Vec<u8>>, Malformed> {
    let lines = text.split(|&byte| byte == b'\n').zip(1..);
    let mut entries = lines.filter(|(line, _)| !line.is_empty() && line[0] != b'#').skip(1);
    entries
        .find_map(|(text, line)| match entry(text, device, revision) {
            Ok(None) => None,
            Ok(Some(name)) => Some(Ok(name)),
            Err(()) => Some(Err(Malformed { line, text: text.to_vec() })),
        })
        .transpose()
}

/// Returns the name if the line is the entry of a device; an error if it is malformed as far as it was looked at.
fn entry(line: &[u8], device: u32, revision: u32) -> Result<Option<Vec<u8>>, ()> {
    // Like strtok: several commas separate as one does.
    let mut fields = line.split(|&byte| byte == b',').filter(|field| !field.is_empty());
    if number(fields.next())? != device || number(fields.next())? != revision {
        return Ok(None);
    }
    let name = fields.next().ok_or(())?;
    let start = name.iter().position(|byte| !matches!(byte, b' ' | b'\t')).ok_or(())?;
    Ok(Some(name[start..].to_vec()))
}

/// Reads a hexadecimal number that ends where the field ends, with blanks in front of it, as strtol does.
fn number(field: Option<&[u8]>) -> Result<u32, ()> {
    let field = field.ok_or(())?;
    let start = field.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0x0b).ok_or(())?;
    let text = std::str::from_utf8(&field[start..]).map_err(drop)?;
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X")).unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(());
    }
    let value = i64::from_str_radix(digits, 16).unwrap_or(i64::MAX).cast_unsigned() as u32;
    Ok(if is_negative { value.wrapping_neg() } else { value })
}

/// Makes a name of the processor's: from the word "Radeon" on if it has one, with "AMD" in front.
fn of_processor(cpuinfo: &[u8]) -> Option<Vec<u8>> {
    const RADEON: &[u8] = b"Radeon";
    let line = cpuinfo.split(|&byte| byte == b'\n').find(|line| line.starts_with(b"model name"))?;
    let name = match line.windows(RADEON.len()).position(|word| word == RADEON) {
        Some(at) => &line[at..],
        None => line[line.iter().position(|&byte| byte == b':')? + 1..].trim_ascii(),
    };
    Some(if name.starts_with(b"AMD") { name.to_vec() } else { [b"AMD ", name].concat() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: &[u8] = b"# comment\n\n1.0.0\n73BF,\tC0,\tAMD Radeon RX 6900 XT\n73BF,\tC1,\t AMD Radeon, RX 6800 \n";

    fn found(text: &[u8], device: u32, revision: u32) -> Option<String> {
        search(text, device, revision).unwrap().map(|name| String::from_utf8(name).unwrap())
    }

    #[test]
    fn a_name_ends_at_a_comma_and_keeps_the_blanks_at_its_end() {
        assert_eq!(found(IDS, 0x73bf, 0xc0).as_deref(), Some("AMD Radeon RX 6900 XT"));
        assert_eq!(found(IDS, 0x73bf, 0xc1).as_deref(), Some("AMD Radeon"));
        assert_eq!(found(b"1.0\n73BF, C1, name \n", 0x73bf, 0xc1).as_deref(), Some("name "));
        assert_eq!(found(IDS, 0x73bf, 0xc2), None);
    }

    #[test]
    fn the_first_line_that_is_no_comment_is_the_version_even_if_it_looks_like_an_entry() {
        assert_eq!(found(b"73BF, C1, first\n73BF, C1, second\n", 0x73bf, 0xc1).as_deref(), Some("second"));
    }

    #[test]
    fn a_malformed_line_ends_the_search_only_before_the_match() {
        let behind = b"1.0\n73BF, C1, name\nrubbish\n";
        assert_eq!(found(behind, 0x73bf, 0xc1).as_deref(), Some("name"));
        for line in ["rubbish", "73BF ,C1, name", "   ", "73BF", "73BF, C1", "73BF, C1, ", "73BF, Cx, name"] {
            let text = format!("1.0\n{line}\n73BF, C1, name\n");
            assert_eq!(search(text.as_bytes(), 0x73bf, 0xc1), Err(Malformed { line: 2, text: line.into() }), "{line}");
        }
        // The revision and the name of another device are not looked at.
        assert_eq!(found(b"1.0\n1309, Cx\n73BF, C1, name\n", 0x73bf, 0xc1).as_deref(), Some("name"));
    }

    #[test]
    fn an_apu_without_entry_takes_the_name_of_its_processor() {
        let of = |line: &str| of_processor(format!("processor\t: 0\nmodel name\t: {line}\n").as_bytes());
        assert_eq!(of("AMD Ryzen 7 5800H with Radeon Graphics"), Some(b"AMD Radeon Graphics".to_vec()));
        assert_eq!(of("Intel(R) Xeon(R)"), Some(b"AMD Intel(R) Xeon(R)".to_vec()));
        assert_eq!(of("AMD EPYC 7B13"), Some(b"AMD EPYC 7B13".to_vec()));
        assert_eq!(of_processor(b"model n"), None);
    }

    #[test]
    fn the_first_readable_table_of_the_listed_folders_is_taken() {
        let folder = std::env::temp_dir().join(format!("amdgpu-ids-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(TABLE), "1.0\n").unwrap();
        let list = |text: &str| table(text.replace('@', folder.to_str().unwrap()).as_bytes());
        assert_eq!(list("/nowhere:@/"), folder.join(TABLE));
        assert_eq!(list("@"), folder.join(TABLE));
        assert_eq!(list("/nowhere"), Path::new("/usr/share/libdrm/amdgpu.ids"));
        assert_eq!(table(b""), Path::new("/usr/share/libdrm/amdgpu.ids"));
        fs::remove_dir_all(folder).unwrap();
    }
}
