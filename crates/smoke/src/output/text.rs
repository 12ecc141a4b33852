//! An output for text in memory.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use amdgpu_output::Visible;

use crate::output::sink::{Sink, Troubles};

/// The text that was written to the sink.
#[derive(Clone, Default)]
pub(crate) struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    pub(crate) fn sink(&self, troubles: &Troubles) -> Sink {
        Sink::new(Visible::new(self.clone()), "memory", troubles)
    }

    pub(crate) fn get(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
