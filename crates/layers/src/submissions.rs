//! The submissions of a recording, with the memory that the GPU reads in each.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_uapi::{Argument, Cs, Request};

use crate::{
    client::{
        SubmittedIb,
        calls::{u32_at, u64_at},
        ibs,
        space::Space,
    },
    format::{Action, Call, FileError, GENERATION, Ib, Ioctl, Reader, Record},
};

/// A submission in a recording, with the kernel's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Number of the call in the recording, from 0.
    pub call: u64,
    /// Number of the open file, from 0.
    pub file: u32,
    /// Number of the calling thread, from 0.
    pub lane: u32,
    /// The kernel's ID of the context.
    pub context: u32,
    /// The sequence number that the kernel assigned; 0 if it refused the submission.
    pub sequence: u64,
    /// The errno if the kernel refused the submission, otherwise 0.
    pub errno: i32,
    /// The IBs that the submission passed to the kernel.
    pub ibs: Vec<SubmittedIb>,
}

/// A reader of the submissions of a recording, with the memory content at the time of each.
pub struct Submissions<R> {
    records: Reader<R>,
    level: Option<GfxLevel>,
    spaces: BTreeMap<u32, Space>,
    /// Contents of IBs by file, address and length.
    contents: HashMap<(u32, u64, usize), Vec<u32>>,
    calls: u64,
}

impl Submissions<BufReader<File>> {
    /// Opens a recording and reads its header.
    ///
    /// # Errors
    ///
    /// The errors of [`Reader::open`].
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Reader::open(path).map(Self::of)
    }
}

impl<R: Read> Submissions<R> {
    /// Creates a reader of any input, and reads the header.
    ///
    /// # Errors
    ///
    /// The errors of [`Reader::new`].
    pub fn new(input: R) -> Result<Self, FileError> {
        Reader::new(input).map(Self::of)
    }

    fn of(records: Reader<R>) -> Self {
        Self { records, level: None, spaces: BTreeMap::new(), contents: HashMap::new(), calls: 0 }
    }

    /// Returns the generation of the chip, if it was recorded before the last submission read.
    pub fn generation(&self) -> Option<GfxLevel> {
        self.level
    }

    /// Returns the content of an IB at the last submission read. Returns `None` if it was not recorded: recordings of version 1
    /// have no IBs, and some memory cannot be read.
    pub fn content(&self, file: u32, va: GpuVa, dwords: usize) -> Option<&[u32]> {
        self.contents.get(&(file, va.as_u64(), dwords)).map(Vec::as_slice).filter(|content| content.len() == dwords)
    }

    /// Returns a description of the BO that was, or had been, bound at an address at the last submission read; `None` if the file
    /// is unknown.
    pub fn name(&self, file: u32, address: u64) -> Option<String> {
        self.spaces.get(&file).map(|space| space.name(address))
    }

    /// Reads the next submission; `None` after the last one.
    ///
    /// # Errors
    ///
    /// The errors of the [`Reader`], after which it ends.
    #[expect(clippy::should_implement_trait, reason = "an iterator's items could not be asked about with it borrowed")]
    pub fn next(&mut self) -> Option<Result<Submitted, FileError>> {
        loop {
            match self.records.next()? {
                Ok(Record::Note { key, value }) if key == GENERATION => {
                    self.level = GfxLevel::ALL.into_iter().find(|level| level.to_string() == value);
                }
                Ok(Record::Ib(Ib { file, va, len, dwords })) => {
                    self.contents.insert((file, va, len as usize), dwords);
                }
                Ok(Record::Call(call)) => {
                    let submitted = self.call(call);
                    self.calls += 1;
                    if let Some(submitted) = submitted {
                        return Some(Ok(submitted));
                    }
                }
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn call(&mut self, call: Call) -> Option<Submitted> {
        let Call { file, lane, action: Action::Ioctl(ioctl), errno } = call else { return None };
        let request = Request::from_bits(ioctl.request);
        let after = after(&ioctl);
        if (request.kind(), request.number()) != (Cs::REQUEST.kind(), Cs::REQUEST.number()) {
            if errno == 0 {
                self.spaces.entry(file).or_insert_with(Space::new).hear(request, &ioctl.input, &after);
            }
            return None;
        }
        Some(Submitted {
            call: self.calls,
            file,
            lane,
            context: u32_at(&ioctl.input, 0)?,
            sequence: if errno == 0 { u64_at(&after, 0)? } else { 0 },
            errno,
            ibs: ibs::submitted(&ioctl.read),
        })
    }
}

/// Returns the argument after the call.
fn after(ioctl: &Ioctl) -> Vec<u8> {
    let mut bytes = ioctl.input.clone();
    for (offset, changed) in &ioctl.changed {
        let place = (*offset as usize).checked_add(changed.len()).and_then(|end| bytes.get_mut(*offset as usize..end));
        if let Some(place) = place {
            place.copy_from_slice(changed);
        }
    }
    bytes
}
