//! A ring of the running kernel: a file `amdgpu_ring_NAME` of debugfs, which root reads. Reading changes nothing.
//!
//! Source: Linux 6.12 `amdgpu_ring.c`, `amdgpu_debugfs_ring_read`: three dwords, which are the read pointer, the write pointer and the
//! driver's own write pointer, each as an index of the ring, and then the dwords of the ring.

use std::path::Path;

use super::{Contents, FileIb, InputError, content::from_bytes, coredump};

/// Returns the name of the ring in the name of a file, such as `gfx_0.0.0`; `None` for other files.
pub(super) fn ring(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix("amdgpu_ring_").filter(|ring| !ring.is_empty())
}

/// Returns what the engine has not fetched yet, or, if there is nothing, the end of what it has.
///
/// # Errors
///
/// [`InputError::Foreign`] if the content is not that of a ring, or the packets of the ring are not known.
pub(super) fn read(ring: &str, bytes: &[u8], name: &str) -> Result<Contents, InputError> {
    let foreign = |found| InputError::Foreign { name: name.to_owned(), found };
    let dwords = from_bytes(bytes);
    let (&[read, write, _], size) = match dwords.first_chunk::<3>() {
        Some(pointers) => (pointers, dwords.len() - 3),
        None => return Err(foreign("a ring without its pointers")),
    };
    if !bytes.len().is_multiple_of(4) || !size.is_power_of_two() {
        return Err(foreign("a ring whose length is no power of two: the file was cut off"));
    }
    let engine =
        coredump::engine(ring).ok_or_else(|| foreign("a ring whose packets are not known, such as of video"))?;
    let ring = coredump::Ring {
        name: ring.to_owned(),
        read: read.into(),
        write: write.into(),
        mask: size as u64 - 1,
        dwords: dwords.get(3..).unwrap_or_default().to_vec(),
    };
    let waiting = ring.waiting();
    let (dwords, title) = if waiting == 0 {
        let fetched = ring.last_jobs(None);
        let title = format!(
            "ring {}, all is fetched up to {write:#x}; the last {} dwords before that",
            ring.name,
            fetched.len()
        );
        (fetched, title)
    } else {
        let title = format!(
            "ring {}, {waiting} dwords from its read pointer {read:#x} to its write pointer {write:#x}",
            ring.name
        );
        (ring.pending(), title)
    };
    let ib = FileIb {
        title: Some(title),
        engine: Some(engine),
        dwords,
        // The ring goes on while it is read.
        is_history: true,
        ..FileIb::default()
    };
    Ok(Contents { ibs: vec![ib], ..Contents::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    /// A ring of 1024 dwords with a NOP of one dword in each, and these pointers.
    fn file(read: u32, write: u32) -> Vec<u8> {
        let dwords = [read, write, write].into_iter().chain((0..1024).map(|index| 0xffff_0000 | index));
        dwords.flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn what_is_not_fetched_is_shown_across_the_end_of_the_ring() {
        let contents = read("gfx_0.0.0", &file(1020, 4), "x").unwrap();
        let [ib] = contents.ibs.as_slice() else { panic!("{contents:?}") };
        assert_eq!(ib.dwords, [1020, 1021, 1022, 1023, 0, 1, 2, 3].map(|index| 0xffff_0000 | index));
        assert_eq!(ib.engine, Some(Engine::Gfx));
        assert!(ib.title.as_ref().unwrap().contains("8 dwords from its read pointer 0x3fc"), "{:?}", ib.title);
        let idle = read("sdma0", &file(300, 300), "x").unwrap();
        assert_eq!((idle.ibs[0].dwords.len(), idle.ibs[0].dwords[255]), (256, 0xffff_0000 + 299));
    }

    #[test]
    fn other_files_and_rings_are_refused() {
        let path = |name: &str| ring(Path::new(name)).map(str::to_owned);
        assert_eq!(path("/sys/kernel/debug/dri/0/amdgpu_ring_comp_1.0.0").as_deref(), Some("comp_1.0.0"));
        assert_eq!((path("amdgpu_ring_"), path("gfx.ib")), (None, None));
        for (name, bytes) in
            [("gfx", vec![]), ("gfx", vec![0; 11]), ("gfx", file(0, 0)[..100].to_vec()), ("vcn_dec_0", file(0, 0))]
        {
            assert!(read(name, &bytes, "x").is_err(), "{name} {}", bytes.len());
        }
        // Pointers beyond the ring.
        assert!(read("gfx", &file(u32::MAX, 7), "x").unwrap().ibs[0].dwords.len() <= 1024);
    }
}
