//! The file format: a header and framed records, written and read sequentially.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Write},
    path::Path,
};

use super::{
    record::Record,
    wire::{Malformed, checksum},
};

/// The first bytes of a recording.
const MAGIC: [u8; 8] = *b"AMDGPUrr";
/// The version of the file format that this crate writes.
pub const VERSION: u32 = 2;
/// The oldest version of the file format that this crate reads. Version 2 added [`Record::Ib`].
pub const OLDEST_VERSION: u32 = 1;
/// The maximum length of a record in bytes. The writer creates no longer record, so a longer one is damaged.
const MOST_BYTES: u32 = 128 << 20;

/// The reason why reading a recording failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be read or written.
    #[error("at byte {offset}: {error}")]
    Io {
        /// Offset of the error from the start of the file, in bytes.
        offset: u64,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file does not begin with the header of a recording.
    #[error("not a recording: the file begins with {0:02x?}")]
    NoRecording(Vec<u8>),
    /// The file has an unsupported version of the format.
    #[error("version {0} of the format; this program reads versions {OLDEST_VERSION} to {VERSION}")]
    Version(u32),
    /// The file ends before [`Record::End`], because its writer was stopped.
    #[error("cut off at byte {offset}: the file ends within a record, or before the final record")]
    CutOff {
        /// Offset of the end of the last complete record, bytes.
        offset: u64,
    },
    /// The checksum of a record does not match.
    #[error("damaged at byte {offset}: checksum {found:#010x}, recorded {recorded:#010x}")]
    Checksum {
        /// Offset of the start of the record, bytes.
        offset: u64,
        /// Checksum of the bytes in the file.
        found: u32,
        /// Checksum stored in the frame of the record.
        recorded: u32,
    },
    /// A record with an invalid field.
    #[error("malformed at byte {offset}: {why}")]
    Malformed {
        /// Offset of the start of the record, bytes.
        offset: u64,
        /// The invalid field and the reason.
        why: Malformed,
    },
}

/// A writer of recordings, record by record, for tools that edit recordings. The last record must be [`Record::End`].
pub struct Writer<W: Write> {
    out: BufWriter<W>,
}

/// Buffer size reserved for a record before it is read, bytes.
const ROOM: usize = 4 << 10;

/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 256 << 10;

impl<W: Write> Writer<W> {
    /// Creates a writer and writes the header.
    ///
    /// # Errors
    ///
    /// The errors of the underlying writer.
    pub fn new(out: W) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        Ok(Self { out })
    }

    /// Appends a record to the buffer.
    ///
    /// # Errors
    ///
    /// The errors of the underlying writer, and [`io::ErrorKind::Other`] if the record has more than 128 MiB.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let bytes = record.encode();
        let len = u32::try_from(bytes.len()).ok().filter(|&len| len <= MOST_BYTES);
        let len = len.ok_or_else(|| io::Error::other(format!("a record of {} bytes", bytes.len())))?;
        self.out.write_all(&len.to_le_bytes())?;
        self.out.write_all(&checksum(&bytes).to_le_bytes())?;
        self.out.write_all(&bytes)
    }

    /// Writes the buffered records.
    ///
    /// # Errors
    ///
    /// The errors of the underlying writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A reader of recordings, record by record. As an iterator it ends after [`Record::End`], or after the first error.
///
/// It buffers at most one record, and allocates memory only as the file provides data.
pub struct Reader<R> {
    input: R,
    /// Number of bytes read so far.
    offset: u64,
    over: bool,
}

impl Reader<BufReader<File>> {
    /// Opens a recording and reads its header.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] if the file cannot be read, [`FileError::NoRecording`] if it does not begin with a header,
    /// [`FileError::Version`] if the version is not supported.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let file = File::open(path).map_err(|error| FileError::Io { offset: 0, error })?;
        Self::new(BufReader::new(file))
    }
}

impl<R: Read> Reader<R> {
    /// Creates a reader of any input, and reads the header.
    ///
    /// # Errors
    ///
    /// The errors of [`Reader::open`].
    pub fn new(input: R) -> Result<Self, FileError> {
        let mut reader = Self { input, offset: 0, over: false };
        let head = reader.up_to(12)?;
        let Some((magic, version)) = head.split_first_chunk::<8>().filter(|(magic, _)| **magic == MAGIC) else {
            return Err(FileError::NoRecording(head));
        };
        debug_assert_eq!(*magic, MAGIC);
        match <[u8; 4]>::try_from(version).map(u32::from_le_bytes) {
            Ok(OLDEST_VERSION..=VERSION) => Ok(reader),
            Ok(other) => Err(FileError::Version(other)),
            Err(_) => Err(FileError::NoRecording(head)),
        }
    }

    /// Reads `len` bytes, or fewer at the end of the file.
    fn up_to(&mut self, len: u64) -> Result<Vec<u8>, FileError> {
        // Memory for a record of a large declared length is allocated as its bytes arrive.
        let mut bytes = Vec::with_capacity(usize::try_from(len).map_or(ROOM, |len| len.min(ROOM)));
        let read = self.input.by_ref().take(len).read_to_end(&mut bytes);
        read.map_err(|error| FileError::Io { offset: self.offset, error })?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }

    fn record(&mut self) -> Result<Record, FileError> {
        let offset = self.offset;
        let frame = self.up_to(8)?;
        let Some((len, recorded)) = frame.split_first_chunk::<4>() else { return Err(FileError::CutOff { offset }) };
        let len = u32::from_le_bytes(*len);
        let recorded =
            <[u8; 4]>::try_from(recorded).map(u32::from_le_bytes).map_err(|_| FileError::CutOff { offset })?;
        if len > MOST_BYTES {
            let why = Malformed::TooLarge("the length of a record", len.into());
            return Err(FileError::Malformed { offset, why });
        }
        let bytes = self.up_to(len.into())?;
        if bytes.len() as u64 != u64::from(len) {
            return Err(FileError::CutOff { offset });
        }
        let found = checksum(&bytes);
        if found != recorded {
            return Err(FileError::Checksum { offset, found, recorded });
        }
        Record::decode(&bytes).map_err(|why| FileError::Malformed { offset, why })
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let record = self.record();
        self.over = matches!(record, Err(_) | Ok(Record::End));
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::format::{Action, Call};

    fn recording() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes).unwrap();
        writer.write(&Record::Note { key: "location".to_owned(), value: "here".to_owned() }).unwrap();
        writer.write(&Record::Call(Call { file: 0, lane: 0, action: Action::Open, errno: 0 })).unwrap();
        writer.write(&Record::End).unwrap();
        writer.flush().unwrap();
        drop(writer);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<Record>, FileError> {
        Reader::new(bytes)?.collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let records = read(&recording()).unwrap();
        assert!(matches!(&records[..], [Record::Note { .. }, Record::Call(_), Record::End]), "{records:?}");
    }

    #[test]
    fn a_recording_cut_off_anywhere_says_where() {
        let whole = recording();
        for len in 12..whole.len() {
            let error = read(&whole[..len]).unwrap_err();
            assert!(matches!(error, FileError::CutOff { offset } if offset <= len as u64), "{len}: {error}");
        }
        for len in 0..12 {
            assert!(matches!(read(&whole[..len]), Err(FileError::NoRecording(_))), "{len}");
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let whole = recording();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = recording();
        for version in [0, 3] {
            bytes[8] = version;
            let expected = format!("version {version} of the format; this program reads versions 1 to 2");
            assert_eq!(read(&bytes).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_recording_of_the_first_version_is_read() {
        let mut bytes = recording();
        let records = read(&bytes).unwrap();
        bytes[8] = 1;
        assert_eq!(read(&bytes).unwrap(), records);
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_records_or_one_error(bytes in vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
            let mut headed = recording()[..12].to_vec();
            headed.extend(bytes);
            let _ = read(&headed);
        }
    }
}
