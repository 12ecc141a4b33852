//! Arguments before the kernel gets them.

use std::ffi::c_void;

use amdgpu_uapi::Request;

use super::{
    calls::{self, Field, Piece, Way},
    memory,
};

/// An argument before the call, with run-dependent fields replaced, and the memory to which it points.
pub(crate) struct Question {
    pub(crate) raw: Vec<u8>,
    pub(crate) fields: Vec<Field>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) input: Vec<u8>,
    pub(crate) read: Vec<Vec<u8>>,
}

impl Question {
    /// Reads the argument.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::ioctl`](amdgpu_uapi::Kernel::ioctl).
    pub(crate) unsafe fn new(request: Request, argument: *mut c_void) -> Self {
        // SAFETY: the caller vouches for `request.size()` bytes.
        let raw = unsafe { memory::read(argument, request.size()) };
        let fields = calls::fields(request, &raw);
        let pieces = calls::pieces(request, &raw, &memory::peek_vec);
        let mut input = raw.clone();
        calls::neutralise(&mut input, &fields);
        let read = pieces.iter().filter(|piece| piece.way == Way::In).map(|piece| {
            let mut bytes = memory::peek_vec(piece.address, piece.len).unwrap_or_default();
            calls::neutralise(&mut bytes, &piece.fields);
            bytes
        });
        let read = read.collect();
        Self { raw, fields, pieces, input, read }
    }

    /// Returns the bytes of the argument that have changed, as runs of offset and bytes. A run-dependent field is always a run as a
    /// whole.
    pub(crate) fn changes(&self, now: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut changed: Vec<bool> = self.raw.iter().zip(now).map(|(old, new)| old != new).collect();
        for field in &self.fields {
            let Some(part) = changed.get_mut(field.offset..field.offset + field.kind.len()) else { continue };
            let any = part.contains(&true);
            part.fill(any);
        }
        let mut runs: Vec<(u32, Vec<u8>)> = Vec::new();
        for (index, byte) in now.iter().enumerate().filter(|(index, _)| changed.get(*index) == Some(&true)) {
            match runs.last_mut() {
                Some((start, bytes)) if *start as usize + bytes.len() == index => bytes.push(*byte),
                _ => runs.push((index as u32, vec![*byte])),
            }
        }
        runs
    }

    /// Returns the memory outside the argument that the kernel has written.
    pub(crate) fn written(&self) -> Vec<Vec<u8>> {
        let out = self.pieces.iter().filter(|piece| piece.way == Way::Out);
        out.map(|piece| memory::peek_vec(piece.address, piece.len).unwrap_or_default()).collect()
    }
}
