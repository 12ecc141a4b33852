//! The kernel gives a handle out again as soon as it is closed; a recording says that it was closed before.

use std::{
    io::{self, Cursor, Write},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use amdgpu_layers::{
    Answered, Ioctl, Layer, Recording,
    format::{Action, Reader, Record},
};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_uapi::{Argument, GemClose, GemCreate, GemCreateFlags, GemDomain};
use amdgpu_winsys::winsys::{Bo, BoRequest, Device};

/// A file in memory.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A kernel that is slow to return from a close: another thread is told that the handle is free, and has time to get it.
struct SlowClose {
    closed: Sender<()>,
    created: Mutex<Receiver<()>>,
}

impl Layer for SlowClose {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let is_close = call.is(GemClose::REQUEST);
        let answered = call.forward();
        if is_close && self.closed.send(()).is_ok() {
            // The other thread gets this far only if the recorder lets it pass the close.
            let _ = self.created.lock().unwrap().recv_timeout(Duration::from_millis(200));
        }
        answered
    }
}

#[test]
fn a_handle_that_another_thread_gets_again_is_recorded_as_closed_first() {
    const PAGE: BoRequest =
        BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::CPU_ACCESS_REQUIRED };
    let ((closed, is_closed), (created, is_created)) = (channel(), channel());
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let layer = SlowClose { closed, created: Mutex::new(is_created) };
    let device = Device::new(recording.wrap(layer.over(gpu.open()))).unwrap();
    let first = Bo::create(&device, PAGE).unwrap();
    let handle = first.handle();
    let other = thread::spawn({
        let device = device.clone();
        move || {
            is_closed.recv().unwrap();
            let second = Bo::create(&device, PAGE).unwrap();
            let _ = created.send(());
            second
        }
    });
    drop(first);
    let second = other.join().unwrap();
    assert_eq!(second.handle(), handle, "the kernel gives the lowest handle out");
    drop((second, device));
    recording.finish().unwrap();
    let bytes = tape.0.lock().unwrap().clone();
    let requests: Vec<_> = Reader::new(Cursor::new(bytes))
        .unwrap()
        .filter_map(|record| match record.unwrap() {
            Record::Call(call) => Some(call.action),
            _ => None,
        })
        .filter_map(|action| match action {
            Action::Ioctl(ioctl) => Some(ioctl.request),
            _ => None,
        })
        .filter(|request| [GemCreate::REQUEST.bits(), GemClose::REQUEST.bits()].contains(request))
        .collect();
    let (create, close) = (GemCreate::REQUEST.bits(), GemClose::REQUEST.bits());
    assert_eq!(requests, [create, close, create, close]);
}
