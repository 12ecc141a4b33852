//! The records of a recording.

use super::wire::{Fields, Malformed, put, put_bytes};

/// The key of the note in which a recorder stores the generation of the chip.
pub(crate) const GENERATION: &str = "generation";

/// A record of a recording: a call, a change of memory, or a note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// A named fact about the whole recording.
    Note {
        /// The name of the fact.
        key: String,
        /// The value of the fact.
        value: String,
    },
    /// A call of the client, recorded when it returned.
    Call(Call),
    /// Changes that the GPU made to memory that the client has mapped, since the last such record of the page.
    Page(Page),
    /// Memory that the GPU reads in the following submissions.
    Ib(Ib),
    /// The end of a finished recording.
    End,
}

/// A recorded call of a client, with all inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Number of the open file, counted from 0 in the order of opening.
    pub file: u32,
    /// Number of the calling thread, counted from 0 in the order of first calls.
    pub lane: u32,
    /// The kind of call, with its arguments and results.
    pub action: Action,
    /// The errno of a failed call, otherwise 0.
    pub errno: i32,
}

/// A kind of call, with its inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The client opened a file.
    Open,
    /// The client closed a file.
    Close,
    /// The client made an ioctl.
    Ioctl(Ioctl),
    /// The client mapped memory.
    Map {
        /// Number of the mapped memory, from 0. Mappings of the same BO have the same number.
        memory: u32,
        /// Offset in the device node, bytes.
        offset: u64,
        /// Length of the mapping in bytes.
        len: u64,
        /// `true` if the mapping is writable.
        writable: bool,
        /// `true` if the client requested a fixed address.
        fixed: bool,
    },
    /// The client removed a mapping.
    Unmap {
        /// Number of the mapped memory.
        memory: u32,
        /// Length of the mapping in bytes.
        len: u64,
    },
}

/// An ioctl with its argument and the memory that the kernel accessed for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ioctl {
    /// The request number, as in `<linux/ioctl.h>`.
    pub request: u32,
    /// The kernel's return value; 0 on failure.
    pub returned: i32,
    /// The argument before the call, in which addresses, times and descriptors are [replaced](crate#comparison) by values that do
    /// not differ from run to run.
    pub input: Vec<u8>,
    /// The memory outside the argument that the kernel read, piece by piece, with values replaced as in `input`.
    pub read: Vec<Vec<u8>>,
    /// The bytes of the argument that the kernel changed, as runs of offset and bytes.
    pub changed: Vec<(u32, Vec<u8>)>,
    /// The memory outside the argument that the kernel wrote, piece by piece.
    pub written: Vec<Vec<u8>>,
    /// The size in bytes of the file of the descriptor that the kernel created, if it created one.
    pub descriptor: Option<u64>,
    /// The number of the memory, if the request was a GEM_USERPTR of pages that the GPU may write.
    pub memory: Option<u32>,
}

/// The content of an IB that a submission uses, directly or through another IB, at the time of submission. It is valid until the
/// next such record with the same file, address and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ib {
    /// The open file in whose address space the IB is.
    pub file: u32,
    /// GPU address of the IB.
    pub va: u64,
    /// Length of the IB in dwords.
    pub len: u32,
    /// The dwords; empty if they could not be read.
    pub dwords: Vec<u32>,
}

/// Dwords that changed in one page of mapped memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Number of the mapped memory.
    pub memory: u32,
    /// Index of the page, from 0.
    pub page: u64,
    /// Runs of changed dwords.
    pub runs: Vec<Run>,
}

/// A run of consecutive dwords in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A run of dwords with individual values.
    Each {
        /// Index of the first dword within the page.
        first: u16,
        /// Values of the dwords, in order.
        dwords: Vec<u32>,
    },
    /// Dwords that all have the same value.
    Fill {
        /// Index of the first dword within the page.
        first: u16,
        /// Number of dwords in the run.
        count: u16,
        /// The value that all dwords of the run have.
        dword: u32,
    },
}

const NOTE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;
const IOCTL: u8 = 4;
const MAP: u8 = 5;
const UNMAP: u8 = 6;
const PAGE: u8 = 7;
const END: u8 = 8;
const IB: u8 = 9;

impl Record {
    /// Returns the bytes of the record, without frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Note { key, value } => {
                out.push(NOTE);
                put_bytes(&mut out, key.as_bytes());
                put_bytes(&mut out, value.as_bytes());
            }
            Self::Call(call) => call.encode(&mut out),
            Self::Page(page) => page.encode(&mut out),
            Self::Ib(ib) => ib.encode(&mut out),
            Self::End => out.push(END),
        }
        out
    }

    /// Parses a record.
    ///
    /// # Errors
    ///
    /// A [`Malformed`] that names the invalid field.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut fields = Fields::new(bytes);
        let kind = fields.byte("the kind of the record")?;
        let record = match kind {
            NOTE => Self::Note { key: fields.text("the note's key")?, value: fields.text("the note")? },
            OPEN | CLOSE | IOCTL | MAP | UNMAP => Self::Call(Call::decode(kind, &mut fields)?),
            PAGE => Self::Page(Page::decode(&mut fields)?),
            IB => Self::Ib(Ib::decode(&mut fields)?),
            END => Self::End,
            other => return Err(Malformed::Kind(other)),
        };
        fields.end()?;
        Ok(record)
    }
}

impl Call {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(match self.action {
            Action::Open => OPEN,
            Action::Close => CLOSE,
            Action::Ioctl(_) => IOCTL,
            Action::Map { .. } => MAP,
            Action::Unmap { .. } => UNMAP,
        });
        put(out, self.file.into());
        put(out, self.lane.into());
        put(out, u64::from(self.errno.cast_unsigned()));
        match &self.action {
            Action::Open | Action::Close => {}
            Action::Ioctl(ioctl) => ioctl.encode(out),
            &Action::Map { memory, offset, len, writable, fixed } => {
                put(out, memory.into());
                put(out, offset);
                put(out, len);
                out.push(u8::from(writable) | u8::from(fixed) << 1);
            }
            &Action::Unmap { memory, len } => {
                put(out, memory.into());
                put(out, len);
            }
        }
    }

    fn decode(kind: u8, fields: &mut Fields<'_>) -> Result<Self, Malformed> {
        let file = fields.narrow("the file's number")?;
        let lane = fields.narrow("the thread's number")?;
        let errno: u32 = fields.narrow("the errno")?;
        let action = match kind {
            OPEN => Action::Open,
            CLOSE => Action::Close,
            IOCTL => Action::Ioctl(Ioctl::decode(fields)?),
            MAP => {
                let memory = fields.narrow("the memory's number")?;
                let (offset, len) = (fields.number("the offset")?, fields.number("the length")?);
                let bits = fields.byte("the flags of the mapping")?;
                Action::Map { memory, offset, len, writable: bits & 1 != 0, fixed: bits & 2 != 0 }
            }
            _ => Action::Unmap { memory: fields.narrow("the memory's number")?, len: fields.number("the length")? },
        };
        Ok(Self { file, lane, action, errno: errno.cast_signed() })
    }
}

impl Ioctl {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.request.into());
        put(out, u64::from(self.returned.cast_unsigned()));
        put_bytes(out, &self.input);
        for pieces in [&self.read, &self.written] {
            put(out, pieces.len() as u64);
            for piece in pieces {
                put_bytes(out, piece);
            }
        }
        put(out, self.changed.len() as u64);
        for (offset, bytes) in &self.changed {
            put(out, u64::from(*offset));
            put_bytes(out, bytes);
        }
        for extra in [self.descriptor, self.memory.map(u64::from)] {
            out.push(u8::from(extra.is_some()));
            put(out, extra.unwrap_or(0));
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, Malformed> {
        let request = fields.narrow("the request")?;
        let returned: u32 = fields.narrow("what the kernel returned")?;
        let input = fields.bytes("the argument")?.to_vec();
        let piece = |fields: &mut Fields<'_>| fields.bytes("a nested piece").map(<[u8]>::to_vec);
        let read = fields.list("what the kernel read", piece)?;
        let written = fields.list("what the kernel wrote", piece)?;
        let changed = fields.list("the changes of the argument", |fields| {
            Ok((fields.narrow("an offset in the argument")?, fields.bytes("a change of the argument")?.to_vec()))
        })?;
        let mut extra = |what| {
            let present = fields.byte(what)? != 0;
            fields.number(what).map(|number| present.then_some(number))
        };
        let descriptor = extra("the size behind the descriptor")?;
        let memory = match extra("the memory's number")? {
            Some(number) => {
                Some(u32::try_from(number).map_err(|_| Malformed::TooLarge("the memory's number", number))?)
            }
            None => None,
        };
        Ok(Self { request, returned: returned.cast_signed(), input, read, changed, written, descriptor, memory })
    }
}

impl Ib {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(IB);
        put(out, self.file.into());
        put(out, self.va);
        put(out, self.len.into());
        put(out, self.dwords.len() as u64);
        out.extend(self.dwords.iter().flat_map(|dword| dword.to_le_bytes()));
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, Malformed> {
        let file = fields.narrow("the file's number")?;
        let va = fields.number("the address of an IB")?;
        let len = fields.narrow("the length of an IB")?;
        let dwords = fields.dwords("the dwords of an IB")?;
        if !dwords.is_empty() && dwords.len() as u64 != u64::from(len) {
            return Err(Malformed::TooLarge(
                "the difference between an IB and its length",
                dwords.len().abs_diff(len as usize) as u64,
            ));
        }
        Ok(Self { file, va, len, dwords })
    }
}

impl Page {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(PAGE);
        put(out, self.memory.into());
        put(out, self.page);
        put(out, self.runs.len() as u64);
        for run in &self.runs {
            match run {
                Run::Each { first, dwords } => {
                    put(out, u64::from(*first) << 1);
                    put(out, dwords.len() as u64);
                    out.extend(dwords.iter().flat_map(|dword| dword.to_le_bytes()));
                }
                Run::Fill { first, count, dword } => {
                    put(out, u64::from(*first) << 1 | 1);
                    put(out, u64::from(*count));
                    out.extend_from_slice(&dword.to_le_bytes());
                }
            }
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, Malformed> {
        let memory = fields.narrow("the memory's number")?;
        let page = fields.number("the page")?;
        let runs = fields.list("the runs of a page", run)?;
        Ok(Self { memory, page, runs })
    }
}

fn run(fields: &mut Fields<'_>) -> Result<Run, Malformed> {
    let head: u32 = fields.narrow("the start of a run")?;
    let count: u16 = fields.narrow("the length of a run")?;
    let first = u16::try_from(head >> 1).map_err(|_| Malformed::TooLarge("the start of a run", head.into()))?;
    if usize::from(first) + usize::from(count) > DWORDS {
        return Err(Malformed::TooLarge("the end of a run", u64::from(first) + u64::from(count)));
    }
    if head & 1 == 1 {
        return dword(fields, "a dword of a page").map(|dword| Run::Fill { first, count, dword });
    }
    let dwords = (0..count).map(|_| dword(fields, "a dword of a page")).collect::<Result<_, _>>()?;
    Ok(Run::Each { first, dwords })
}

fn dword(fields: &mut Fields<'_>, what: &'static str) -> Result<u32, Malformed> {
    let mut bytes = [0; 4];
    for byte in &mut bytes {
        *byte = fields.byte(what)?;
    }
    Ok(u32::from_le_bytes(bytes))
}

/// Number of dwords in a page.
pub(crate) const DWORDS: usize = 1024;

/// The contents of a page.
pub(crate) type Dwords = [u32; DWORDS];

/// The shortest run that is stored as a fill, in dwords.
const SHORTEST_FILL: usize = 4;

/// Returns the runs that change `old` to `new`; empty if they are equal.
pub(crate) fn difference(old: &Dwords, new: &Dwords) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut index = 0;
    while index < DWORDS {
        if old[index] == new[index] {
            index += 1;
            continue;
        }
        let same = new[index..].iter().take_while(|&&dword| dword == new[index]).count();
        // A fill may include dwords that have the value already.
        let changed = (index..index + same).rposition(|at| old[at] != new[at]).map_or(0, |last| last + 1);
        let count = changed.min(same);
        let first = index as u16;
        if count >= SHORTEST_FILL {
            runs.push(Run::Fill { first, count: count as u16, dword: new[index] });
            index += count;
            continue;
        }
        match runs.last_mut() {
            Some(Run::Each { first, dwords }) if usize::from(*first) + dwords.len() == index => dwords.push(new[index]),
            _ => runs.push(Run::Each { first, dwords: vec![new[index]] }),
        }
        index += 1;
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn pages() -> impl Strategy<Value = (Box<Dwords>, Box<Dwords>)> {
        let strokes = vec((0..DWORDS, 1..200_usize, 0..3_u32), 0..20);
        let page = |strokes: Vec<(usize, usize, u32)>| {
            let mut page = Box::new([0; DWORDS]);
            for (start, len, value) in strokes {
                page.iter_mut().skip(start).take(len).for_each(|dword| *dword = value);
            }
            page
        };
        (strokes.clone().prop_map(page), strokes.prop_map(page))
    }

    /// Applies the changes to a page.
    fn apply(runs: &[Run], page: &mut Dwords) {
        for run in runs {
            match run {
                Run::Each { first, dwords } => {
                    page.iter_mut().skip((*first).into()).zip(dwords).for_each(|(to, from)| *to = *from);
                }
                Run::Fill { first, count, dword } => {
                    page.iter_mut().skip((*first).into()).take((*count).into()).for_each(|to| *to = *dword);
                }
            }
        }
    }

    #[test]
    fn an_ib_of_any_length_is_read_back() {
        let dwords: Vec<u32> = (0..200_000).collect();
        let record = Record::Ib(Ib { file: 0, va: 0x1000, len: 200_000, dwords });
        assert_eq!(Record::decode(&record.encode()), Ok(record));
    }

    proptest! {
        #[test]
        fn a_difference_makes_the_old_page_the_new_one((old, new) in pages()) {
            let page = Page { memory: 3, page: 7, runs: difference(&old, &new) };
            let record = Record::Page(page);
            let Ok(Record::Page(page)) = Record::decode(&record.encode()) else { panic!("{record:?}") };
            let mut patched = old;
            apply(&page.runs, &mut patched);
            prop_assert_eq!(patched, new);
        }

        #[test]
        fn any_bytes_are_a_record_or_an_error(bytes in vec(any::<u8>(), 0..300), kind in 0..10_u8) {
            let _ = Record::decode(&bytes);
            let mut bytes = bytes;
            bytes.insert(0, kind);
            // A parsed record, encoded and parsed again, must be the same.
            if let Ok(record) = Record::decode(&bytes) {
                prop_assert_eq!(Record::decode(&record.encode()), Ok(record));
            }
        }
    }

    #[test]
    fn a_filled_page_takes_a_few_bytes() {
        let runs = difference(&[0; DWORDS], &[0xa5a5_a5a5; DWORDS]);
        assert_eq!(runs, [Run::Fill { first: 0, count: 1024, dword: 0xa5a5_a5a5 }]);
        assert_eq!(difference(&[7; DWORDS], &[7; DWORDS]), []);
    }
}
